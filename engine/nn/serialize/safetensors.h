// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"
#include "engine/nn/serialize/safetensors_header.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tapescope::engine::nn {

using NamedTensors = std::vector<Module::NamedTensor>;
using Metadata = std::map<std::string, std::string>;

/// A safetensors file, opened: its header is read and checked, tensors are read when asked for. The
/// format: https://github.com/huggingface/safetensors. One thread at a time.
class SafetensorsFile final {
public:
    /// Throws DataError: no such file, no such format, or a header that cannot be right (see
    /// parseSafetensorsHeader). Takes memory for the header only, and never more than the file has.
    explicit SafetensorsFile(const std::string& path);
    ~SafetensorsFile();
    SafetensorsFile(const SafetensorsFile&) = delete;
    SafetensorsFile& operator=(const SafetensorsFile&) = delete;

    const std::vector<SafetensorsEntry>& entries() const { return m_header.entries; }
    const Metadata& metadata() const { return m_header.metadata; }
    /// Throws DataError: no tensor of that name (with the nearest), or reading fails.
    Tensor load(const std::string& name) const;

private:
    Tensor read(const SafetensorsEntry& entry) const;
    struct Handle;
    std::string m_path;
    std::unique_ptr<Handle> m_file;
    std::uint64_t m_dataStart = 0;
    SafetensorsHeader m_header;
};

/// Every tensor of a file.
NamedTensors load_file(const std::string& path);
/// Writes a file whole or not at all: into a temporary one beside it, which then takes its name.
/// Throws DataError: a name that comes twice, a dtype the format lacks, or the disk refuses.
void save_file(const NamedTensors& tensors, const std::string& path, const Metadata& metadata = {});

/// A module's state_dict() as a file, and back. load_model throws what load_file and
/// load_state_dict throw.
void save_model(const Module& module, const std::string& path, const Metadata& metadata = {});
Module::LoadResult load_model(Module& module, const std::string& path, bool strict = true);

}  // namespace tapescope::engine::nn
