// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/observe/observer.h"
#include "engine/tensor/tensor.h"

#include <array>
#include <concepts>
#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace tapescope::engine {

using AttrValue = std::variant<std::monostate, bool, std::int64_t, double, Dims, DType>;
enum class AttrKind : std::uint8_t { Bool, Int, Float, Dims, DType };
inline constexpr int kMaxAttrs = 8;

/// The non-tensor arguments of a call, by position as the operator's row lists them. A monostate is
/// an absent optional.
class Attrs {
public:
    Attrs() noexcept {}
    template <class... T>
    requires(sizeof...(T) > 0 &&
             (std::constructible_from<AttrValue, T> && ...)) explicit Attrs(T... values) {
        static_assert(sizeof...(T) <= kMaxAttrs);
        (append(AttrValue(values)), ...);
    }
    explicit Attrs(std::span<const AttrValue> values) {
        for (const AttrValue& value : values) push_back(value);
    }
    Attrs(const Attrs& other) : Attrs(other.values()) {}
    Attrs& operator=(const Attrs& other) {
        if (this == &other) return *this;
        m_count = 0;
        for (const AttrValue& value : other.values()) append(value);
        return *this;
    }
    ~Attrs() = default;

    int size() const { return m_count; }
    /// A monostate past the end.
    const AttrValue& operator[](int i) const {
        static constexpr AttrValue kAbsent;
        return i < m_count ? m_values[i] : kAbsent;
    }
    std::span<const AttrValue> values() const {
        return {m_values, static_cast<std::size_t>(m_count)};
    }
    void push_back(const AttrValue& value) {
        if (m_count == kMaxAttrs) throw std::out_of_range("an operator takes at most 8 attributes");
        append(value);
    }
    bool has(int i) const { return i < m_count && (*this)[i].index() != 0; }
    bool flag(int i) const { return std::get<bool>((*this)[i]); }
    std::int64_t integer(int i) const { return std::get<std::int64_t>((*this)[i]); }
    double real(int i) const { return std::get<double>((*this)[i]); }
    const Dims& dims(int i) const { return std::get<Dims>((*this)[i]); }
    DType dtype(int i) const { return std::get<DType>((*this)[i]); }

private:
    void append(const AttrValue& value) { new (&m_values[m_count++]) AttrValue(value); }

    static_assert(std::is_trivially_copyable_v<AttrValue>);
    // Only the first m_count are constructed: most calls have none, and they lie on every call's
    // way.
    union {
        AttrValue m_values[kMaxAttrs];
    };
    int m_count = 0;
};

/// The arguments of one call. inputs[i] may be an undefined tensor where the row says optional.
struct OpArgs {
    std::span<const Tensor* const> inputs;
    const Attrs& attrs;
    const Tensor& operator[](int i) const { return *inputs[static_cast<unsigned>(i)]; }
    bool has(int i) const {
        return static_cast<std::size_t>(i) < inputs.size() &&
               inputs[static_cast<unsigned>(i)]->defined();
    }
};

inline constexpr int kMaxOutputs = 3;
/// What a shape rule says of the outputs.
struct OutputMetas {
    std::array<TensorMeta, kMaxOutputs> metas;
    int count = 0;
    /// The sizes depend on the data (unique, nonzero): the kernel allocates the outputs.
    bool dynamic = false;
    void add(const Dims& sizes, DType dtype) {
        metas[static_cast<unsigned>(count++)] = {sizes, dtype};
    }
    /// An output whose sizes only the kernel can tell.
    void addDynamic(DType dtype) {
        dynamic = true;
        add({}, dtype);
    }
};
struct Outputs {
    std::array<Tensor, kMaxOutputs> tensors;
    int count = 0;
    Tensor& operator[](int i) { return tensors[static_cast<unsigned>(i)]; }
    std::span<const Tensor> span() const {
        return {tensors.data(), static_cast<std::size_t>(count)};
    }
};

/// What a VJP gets. input(i)/output(i) are defined only where the row saves them; meta(i) always.
struct VjpArgs {
    const OpDef& op;
    std::span<const Tensor> savedInputs;
    std::span<const Tensor> savedOutputs;
    std::span<const TensorMeta> inputMetas;
    std::span<const Tensor> gradOutputs;  ///< undefined where no gradient arrived
    std::span<const bool> needs;          ///< which inputs need a gradient
    const Attrs& attrs;
    const Tensor& input(int i) const { return savedInputs[static_cast<unsigned>(i)]; }
    const Tensor& output(int i) const { return savedOutputs[static_cast<unsigned>(i)]; }
    const TensorMeta& meta(int i) const { return inputMetas[static_cast<unsigned>(i)]; }
    const Tensor& grad(int i = 0) const { return gradOutputs[static_cast<unsigned>(i)]; }
    bool need(int i) const { return needs[static_cast<unsigned>(i)]; }
    int inputCount() const { return static_cast<int>(inputMetas.size()); }
};

using InferFn = void (*)(const OpArgs&, OutputMetas&);
using KernelFn = void (*)(const OpArgs&, std::span<Tensor> outputs);
using ViewFn = Tensor (*)(const OpArgs&);
using VjpFn = void (*)(const VjpArgs&, std::span<Tensor> gradInputs);
using CostFn = Cost (*)(const OpArgs&, std::span<const Tensor> outputs);
using CompositeFn = void (*)(const OpArgs&, Site, Outputs&);

/// How dtypes are prepared before the shape rule sees them.
enum class TypeRule : std::uint8_t {
    AsIs,          ///< the shape rule checks
    Promote,       ///< to a common dtype
    PromoteFloat,  ///< the same, and integers to float32 (sqrt, div, mean)
    Floating,      ///< refuse anything but floating point
    FloatingOrComplex,
    PromoteNumbers  ///< to a common dtype; refuse bool operands (sub)
};

enum class Family : std::uint8_t {
    Pointwise,
    Comparison,
    Reduction,
    Shape,
    Index,
    Linalg,
    Nn,
    Random,
    Create,
    Fft
};
std::string_view familyName(Family family);

/// For OpDef::native.
constexpr std::uint32_t dtypeBit(DType dtype) { return 1U << static_cast<unsigned>(dtype); }
inline constexpr std::uint32_t kComputeTypes =
    dtypeBit(DType::Bool) | dtypeBit(DType::I64) | dtypeBit(DType::F32) | dtypeBit(DType::F64);
/// Complex numbers too.
inline constexpr std::uint32_t kEveryType = (1U << kDTypeCount) - 1;
inline constexpr std::uint32_t kEveryRealType = kEveryType & ~dtypeBit(DType::C64);

struct ArgDef {
    std::string_view name;
    bool optional = false;
    bool list = false;  ///< the last argument may take any number of tensors (cat)
};
struct AttrDef {
    std::string_view name;
    AttrKind kind;
    std::string_view defaultText = "";  ///< as printed in docs; "" = required
};

/// One operator: one row. A new operator is a checked public function, a row here and a kernel;
/// everything else (dispatch, printing, debugging, docs, tests) walks over the rows.
struct OpDef {
    std::string_view name;  ///< PyTorch's; a trailing "_" means in place
    Family family = Family::Pointwise;
    std::span<const ArgDef> args{};
    std::span<const AttrDef> attrs{};
    TypeRule types = TypeRule::AsIs;
    int typesFrom = 0;  ///< the type rule applies to inputs from here on (1 for where's condition)
    InferFn infer =
        nullptr;  ///< shape and dtype rule; throws ShapeError/DTypeError/IndexError. Needs no data
    ViewFn view = nullptr;  ///< instead of infer and a kernel: checks; the output aliases input 0
    VjpFn vjp = nullptr;    ///< null: not differentiable
    std::uint32_t saveInputs = 0;  ///< bit i: the VJP reads input i
    std::uint32_t saveOutputs = 0;
    bool inplace = false;  ///< writes input 0 and returns it
    bool random = false;   ///< draws from the Context's generator
    /// Bit DType: the kernel takes and gives this type itself. For any other the dispatcher
    /// converts to computeType(dtype) and rounds what comes out once; complex64 it refuses.
    std::uint32_t native = kComputeTypes;
    /// A 0-d second operand keeps float32's digits beside 16-bit floats (mul, div), as in PyTorch.
    bool wideNumber = false;
    CostFn cost = nullptr;  ///< null: bytes of inputs and outputs, one FLOP an output element
    std::array<KernelFn, kDeviceKindCount> kernels{};  ///< by DeviceKind; null = no kernel there
    /// Instead of a shape rule and kernels: calls other operators, which are what runs, what
    /// observers see and what has gradients (tile, movedim, quantile).
    CompositeFn composite = nullptr;
    bool compositeGrad = true;  ///< gradients flow through a composite
    bool differentiable() const { return vjp != nullptr || (composite && compositeGrad); }
};

/// The row with a kernel that takes every type but complex numbers.
constexpr OpDef takingEveryRealType(OpDef row) {
    row.native = kEveryRealType;
    return row;
}
/// The row with a kernel that takes every type.
constexpr OpDef takingEveryType(OpDef row) {
    row.native = kEveryType;
    return row;
}

/// Every operator, in a fixed order. Backends loaded at run time add their kernels.
class OpTable final {
public:
    static OpTable& instance();
    std::span<OpDef* const> rows() const { return m_rows; }
    /// Null if there is none.
    const OpDef* find(std::string_view name) const;
    /// At most count names nearest to a misspelt one.
    std::vector<std::string> nearest(std::string_view name, int count = 3) const;
    bool supports(const OpDef& op, DeviceKind device) const;

private:
    OpTable();
    std::vector<OpDef*> m_rows;
};

/// "conv2d(input, weight, bias?, *, stride=1, padding=0, dilation=1, groups=1)"
std::string signature(const OpDef& op);
/// "stride=[1, 1], padding=[1, 1]"
std::string attrsText(const OpDef& op, const Attrs& attrs);

}  // namespace tapescope::engine
