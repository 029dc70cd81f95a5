// SPDX-License-Identifier: Apache-2.0
#include "plugins/models/datasets.h"

#include "engine/data/csv.h"
#include "engine/data/idx.h"
#include "engine/errors.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "plugins/models/embedded.h"

#include <array>
#include <filesystem>

namespace tapescope::plugins {
namespace {

using namespace engine;

struct NamePair {
    const char* images;
    const char* labels;
};
constexpr std::array<NamePair, 3> kMnistNames{{
    {"mnist10k-images.idx3-ubyte", "mnist10k-labels.idx1-ubyte"},
    {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
    {"train-images.idx3-ubyte", "train-labels.idx1-ubyte"},
}};

/// The file of that name, with or without .gz; "" if there is none.
std::string findFile(const std::string& dir, const std::string& name) {
    for (const std::string& candidate : {name + ".gz", name}) {
        const std::filesystem::path path = std::filesystem::path(dir) / candidate;
        std::error_code ignored;
        if (std::filesystem::is_regular_file(path, ignored)) return path.string();
    }
    return "";
}

void checkLabels(const Tensor& labels, const std::string& file) {
    if (amin(labels).item() >= 0 && amax(labels).item() <= 9) return;
    throw DataError(file + ": holds labels outside 0 … 9; check that it is the labels' file");
}

data::TensorDataset readMnist(const std::string& imageFile, const std::string& labelFile) {
    const Tensor images = data::read_idx(imageFile);
    if (images.dim() != 3 || images.size(1) != 28 || images.size(2) != 28 || images.size(0) == 0) {
        throw DataError(imageFile + ": holds " + toString(images.sizes()) +
                        ", images [N, 28, 28] were expected; check that it is the images' file");
    }
    const Tensor labels = data::read_idx(labelFile, DType::I64);
    if (labels.dim() != 1 || labels.size(0) != images.size(0)) {
        throw DataError(labelFile + ": holds " + toString(labels.sizes()) + ", " +
                        std::to_string(images.size(0)) + " labels were expected as " + imageFile +
                        " has that many images; use files that belong together");
    }
    checkLabels(labels, labelFile);
    return {div(reshape(images, {-1, 1, 28, 28}), 255), labels};
}

}  // namespace

data::TensorDataset loadDigits() {
    const EmbeddedFile file = embeddedFile("resources/data/digits.csv.gz");
    const auto bytes = std::as_bytes(std::span(file.text));
    const Tensor table =
        data::read_csv(data::ByteSource::memory(std::string(file.path), bytes)).values;
    const Tensor pixels = contiguous(narrow(table, 1, 0, 64));
    const Tensor labels = to(select(table, 1, 64), DType::I64);
    checkLabels(labels, std::string(file.path));
    return {div(reshape(pixels, {-1, 1, 8, 8}), 16), labels};
}

data::TensorDataset loadMnist(const std::string& dir) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(dir, ignored)) {
        throw DataError(dir + ": is not a folder; --data takes the folder that holds " +
                        mnistHelp());
    }
    for (const NamePair& names : kMnistNames) {
        const std::string images = findFile(dir, names.images);
        const std::string labels = findFile(dir, names.labels);
        if (!images.empty() && !labels.empty()) return readMnist(images, labels);
    }
    throw DataError(dir + ": holds no MNIST files; it takes " + mnistHelp());
}

std::string mnistHelp() {
    return "mnist10k-images.idx3-ubyte.gz and mnist10k-labels.idx1-ubyte.gz, or "
           "train-images-idx3-ubyte.gz and "
           "train-labels-idx1-ubyte.gz (MNIST's original files), with or without .gz";
}

}  // namespace tapescope::plugins
