// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/node.h"
#include "engine/tensor/tensor.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tapescope::engine {
namespace {

constexpr std::int64_t kSummarizeAbove = 1000;
constexpr std::int64_t kEdgeItems = 3;

double valueAt(const Tensor& t, std::int64_t offset) {
    return visitEveryDType(t.dtype(), [&]<class T>() {
        return static_cast<double>(static_cast<const T*>(t.storage()->data())[offset]);
    });
}

/// Formats values of one tensor alike: integers without a point, floats fixed or scientific by
/// their range.
class Printer {
public:
    Printer(const Tensor& t, int precision)
        : m_tensor(t), m_precision(precision), m_summary(t.numel() > kSummarizeAbove) {
        bool allIntegral = true;
        double largest = 0;
        double smallest = INFINITY;
        visit(0, t.storage_offset(), [&](double v) {
            if (!std::isfinite(v)) return;
            allIntegral = allIntegral && v == std::floor(v);
            const double a = std::abs(v);
            largest = std::max(largest, a);
            if (a > 0) smallest = std::min(smallest, a);
        });
        m_integral = allIntegral && largest < 1e8;
        m_scientific = !m_integral && (largest >= 1e6 || (largest > 0 && largest / smallest > 1e5));
        visit(0, t.storage_offset(),
              [&](double v) { m_width = std::max(m_width, format(v).size()); });
    }

    std::string text() const {
        std::string out;
        write(out, 0, m_tensor.storage_offset(), 0);
        return out;
    }

private:
    std::string format(double v) const {
        if (m_tensor.dtype() == DType::Bool) return v != 0 ? "true" : "false";
        char buffer[48];
        if (std::isnan(v)) return "nan";
        if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
        if (isIntegral(m_tensor.dtype())) {
            std::snprintf(buffer, sizeof buffer, "%.0f", v);
        } else if (m_integral) {
            std::snprintf(buffer, sizeof buffer, "%.0f.", v);
        } else {
            std::snprintf(buffer, sizeof buffer, m_scientific ? "%.*e" : "%.*f", m_precision, v);
        }
        return buffer;
    }

    bool skipped(int d, std::int64_t i) const {
        const std::int64_t n = m_tensor.sizes()[d];
        return m_summary && n > 2 * kEdgeItems && i >= kEdgeItems && i < n - kEdgeItems;
    }

    template <class Fn>
    void visit(int d, std::int64_t offset, Fn&& fn) const {
        if (d == m_tensor.dim()) {
            if (m_tensor.numel() > 0) fn(valueAt(m_tensor, offset));
            return;
        }
        for (std::int64_t i = 0; i < m_tensor.sizes()[d]; ++i) {
            if (!skipped(d, i)) visit(d + 1, offset + i * m_tensor.strides()[d], fn);
        }
    }

    void write(std::string& out, int d, std::int64_t offset, std::size_t indent) const {
        if (d == m_tensor.dim()) {
            const std::string v = format(valueAt(m_tensor, offset));
            if (d > 0) out.append(m_width - v.size(), ' ');
            out += v;
            return;
        }
        out += '[';
        const bool inner = d + 1 == m_tensor.dim();
        bool first = true;
        for (std::int64_t i = 0; i < m_tensor.sizes()[d]; ++i) {
            if (skipped(d, i) && i != kEdgeItems) continue;
            if (!first) {
                out += ',';
                if (inner) {
                    out += ' ';
                } else {
                    out.append(static_cast<std::size_t>(m_tensor.dim() - d - 1), '\n');
                    out.append(indent + 1, ' ');
                }
            }
            first = false;
            if (skipped(d, i)) {
                out += "…";
            } else {
                write(out, d + 1, offset + i * m_tensor.strides()[d], indent + 1);
            }
        }
        out += ']';
    }

    const Tensor& m_tensor;
    int m_precision;
    bool m_summary;
    bool m_integral = false;
    bool m_scientific = false;
    std::size_t m_width = 0;
};

}  // namespace

std::string Tensor::to_string(int precision) const {
    if (!defined()) return "tensor(undefined)";
    std::string text = Printer(*this, precision).text();
    std::string indented = "tensor(";
    for (char c : text) {
        indented += c;
        if (c == '\n') indented.append(7, ' ');
    }
    indented += ", " + meta().toString();
    if (grad_fn()) {
        indented += ", grad_fn=<" + std::string(grad_fn()->name()) + ">";
    } else if (requires_grad()) {
        indented += ", requires_grad";
    }
    return indented + ")";
}

}  // namespace tapescope::engine
