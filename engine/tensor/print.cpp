// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/node.h"
#include "engine/tensor/tensor.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace tapescope::engine {
namespace {

constexpr std::int64_t kSummarizeAbove = 1000;
constexpr std::int64_t kEdgeItems = 3;

/// part: 1 for the imaginary part of a complex element.
double valueAt(const Tensor& t, std::int64_t offset, int part) {
    if (isComplex(t.dtype()))
        return static_cast<const float*>(t.storage()->data())[2 * offset + part];
    return visitEveryDType(t.dtype(), [&]<class T>() {
        return static_cast<double>(static_cast<const T*>(t.storage()->data())[offset]);
    });
}

/// How the values of one tensor are written alike: integers without a point, floats fixed or
/// scientific by their range. The parts of complex numbers have a style each.
class NumberStyle {
public:
    NumberStyle(DType dtype, int precision) : m_dtype(dtype), m_precision(precision) {}

    void see(double v) {
        if (!std::isfinite(v)) return;
        m_whole = m_whole && v == std::floor(v);
        const double a = std::abs(v);
        m_largest = std::max(m_largest, a);
        if (a > 0) m_smallest = std::min(m_smallest, a);
    }
    std::string format(double v) const {
        if (m_dtype == DType::Bool) return v != 0 ? "true" : "false";
        char buffer[48];
        if (std::isnan(v)) return "nan";
        if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
        const bool whole = m_whole && m_largest < 1e8;
        const bool scientific = m_largest >= 1e6 || (m_largest > 0 && m_largest / m_smallest > 1e5);
        if (isIntegral(m_dtype)) {
            std::snprintf(buffer, sizeof buffer, "%.0f", v);
        } else if (whole) {
            std::snprintf(buffer, sizeof buffer, "%.0f.", v);
        } else {
            std::snprintf(buffer, sizeof buffer, scientific ? "%.*e" : "%.*f", m_precision, v);
        }
        return buffer;
    }
    /// The widest text so far.
    void measure(double v) { m_width = std::max(m_width, format(v).size()); }
    std::string padded(double v) const {
        const std::string text = format(v);
        return std::string(m_width - text.size(), ' ') + text;
    }

private:
    DType m_dtype;
    int m_precision;
    bool m_whole = true;
    double m_largest = 0;
    double m_smallest = INFINITY;
    std::size_t m_width = 0;
};

class Printer {
public:
    Printer(const Tensor& t, int precision)
        : m_tensor(t),
          m_summary(t.numel() > kSummarizeAbove),
          m_styles{NumberStyle(t.dtype(), precision), NumberStyle(t.dtype(), precision)} {
        const int parts = isComplex(t.dtype()) ? 2 : 1;
        for (int part = 0; part < parts; ++part) {
            NumberStyle& style = m_styles[static_cast<std::size_t>(part)];
            visit(0, t.storage_offset(),
                  [&](std::int64_t offset) { style.see(valueAt(t, offset, part)); });
            visit(0, t.storage_offset(),
                  [&](std::int64_t offset) { style.measure(valueAt(t, offset, part)); });
        }
    }

    std::string text() const {
        std::string out;
        write(out, 0, m_tensor.storage_offset(), 0);
        return out;
    }

private:
    /// "0.1000+2.0000j", as PyTorch writes complex numbers.
    std::string element(std::int64_t offset, bool pad) const {
        const double v = valueAt(m_tensor, offset, 0);
        const std::string text = pad ? m_styles[0].padded(v) : m_styles[0].format(v);
        if (!isComplex(m_tensor.dtype())) return text;
        const std::string imag = m_styles[1].format(valueAt(m_tensor, offset, 1));
        return text + (imag[0] == '-' ? "" : "+") + imag + "j";
    }

    bool skipped(int d, std::int64_t i) const {
        const std::int64_t n = m_tensor.sizes()[d];
        return m_summary && n > 2 * kEdgeItems && i >= kEdgeItems && i < n - kEdgeItems;
    }

    template <class Fn>
    void visit(int d, std::int64_t offset, Fn&& fn) const {
        if (d == m_tensor.dim()) {
            if (m_tensor.numel() > 0) fn(offset);
            return;
        }
        for (std::int64_t i = 0; i < m_tensor.sizes()[d]; ++i) {
            if (!skipped(d, i)) visit(d + 1, offset + i * m_tensor.strides()[d], fn);
        }
    }

    void write(std::string& out, int d, std::int64_t offset, std::size_t indent) const {
        if (d == m_tensor.dim()) {
            out += element(offset, d > 0);
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
    bool m_summary;
    std::array<NumberStyle, 2> m_styles;  // of real and imaginary parts
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
