// SPDX-License-Identifier: Apache-2.0
#include "plugins/models/images.h"

#include "engine/ops/shape.h"
#include "plugins/api/model.h"
#include "plugins/models/datasets.h"

namespace tapescope::plugins {

using namespace engine;

data::TensorDataset loadDigitImages(const std::optional<std::string>& dataDir) {
    if (!dataDir) return loadDigits();
    const data::TensorDataset mnist = loadMnist(*dataDir);
    return {pad(mnist.input(), {2, 2, 2, 2}), mnist.target()};
}

Tensor enlarge(const Tensor& x, std::int64_t k, Site site) {
    if (k == 1) return x;
    const std::int64_t n = x.size(0);
    const std::int64_t c = x.size(1);
    const std::int64_t h = x.size(2);
    const std::int64_t w = x.size(3);
    const Tensor apart = reshape(x, {n, c, h, 1, w, 1}, site);
    return reshape(expand(apart, {n, c, h, k, w, k}, site), {n, c, h * k, w * k}, site);
}

std::int64_t enlargement(std::int64_t pixels, std::int64_t wanted) {
    if (wanted >= pixels && wanted % pixels == 0) return wanted / pixels;
    throw UsageError("the pictures are " + std::to_string(pixels) +
                     " pixels wide and cannot become " + std::to_string(wanted) +
                     "; choose a multiple");
}

}  // namespace tapescope::plugins
