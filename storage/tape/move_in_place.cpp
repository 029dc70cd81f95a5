// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/move_in_place.h"

#include <cerrno>
#include <fcntl.h>
#include <stdio.h>
#include <system_error>
#include <unistd.h>

namespace tapescope::storage {

Status moveInPlace(const std::string& from, const std::string& to, bool overwrite) {
    // A stale write-ahead log beside the name would be replayed into the new file.
    for (const char* suffix : {"-wal", "-shm", "-journal"}) unlink((to + suffix).c_str());
    int rc = 0;
    if (overwrite) {
        rc = rename(from.c_str(), to.c_str());
    } else {
        rc = renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
        // Not every file system knows it; the check before must then do.
        if (rc != 0 && (errno == EINVAL || errno == ENOSYS)) rc = rename(from.c_str(), to.c_str());
    }
    if (rc == 0) return {};
    return Status::error("cannot create \"" + to + "\" (" + std::generic_category().message(errno) +
                         "): choose another name or place");
}

}  // namespace tapescope::storage
