// SPDX-License-Identifier: Apache-2.0
#include "operator_case.h"

#include "engine/ops/complex.h"
#include "engine/ops/pointwise.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <stdexcept>

namespace tapescope::engine::test {
namespace {

/// Reads one file; every message names the line.
class Parser {
public:
    Parser(const std::string& path, std::string name) : m_in(path), m_name(std::move(name)) {
        if (!m_in) throw std::runtime_error(path + " cannot be opened");
    }

    void read(std::vector<OperatorCase>& cases) {
        std::string line;
        while (std::getline(m_in, line)) {
            ++m_line;
            if (line.empty() || line[0] == '#') continue;
            std::istringstream words(line);
            std::string keyword;
            words >> keyword;
            if (keyword == "case") {
                startCase(cases.emplace_back(), words);
                continue;
            }
            if (cases.empty()) fail("a record before the first case");
            readRecord(cases.back(), keyword, words);
        }
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error(place() + ": " + what);
    }
    std::string place() const { return m_name + ":" + std::to_string(m_line); }

    void startCase(OperatorCase& c, std::istringstream& words) const {
        c.place = place();
        words >> c.op >> c.label;
        if (c.label.empty()) fail("a case needs an operator and a label");
        for (std::string option; words >> option;) {
            const auto equals = option.find('=');
            if (equals == std::string::npos) fail("the option " + option + " has no value");
            const std::string value = option.substr(equals + 1);
            const std::string key = option.substr(0, equals);
            if (key == "tol") {
                c.tolerance = std::strtod(value.c_str(), nullptr);
            } else if (key == "seed") {
                c.seed = std::strtoull(value.c_str(), nullptr, 10);
            } else if (key == "layouts") {
                c.contiguousOnly = value == "contiguous";
            } else if (key == "gradcheck") {
                c.gradcheck = value != "no";
            } else if (key == "refused") {
                c.refused = value != "no";
                c.refusedValue = value == "value" || value == "sizes";
                if (value == "sizes") c.form = value;
                c.refusedType = value == "type";
            } else if (key == "dtype") {
                c.dtype = readDType(value);
            } else if (key == "form") {
                c.form = value;
            } else if (key == "values") {
                c.sizesOnly = value == "no";
            } else if (key == "second") {
                c.secondOrder = value != "no";
            } else if (key == "constant") {
                std::istringstream numbers(value);
                for (std::string n; std::getline(numbers, n, ',');)
                    c.constant.push_back(std::stoul(n));
            } else if (key == "symmetric") {
                c.symmetric = value != "no";
            } else if (key == "text") {
                c.text = value;
                std::replace(c.text.begin(), c.text.end(), '_', ' ');
            } else if (key == "gradoutputs") {
                c.gradOutputs = std::stoi(value);
            } else {
                fail("there is no option " + key);
            }
        }
    }

    void readRecord(OperatorCase& c, const std::string& keyword, std::istringstream& words) const {
        if (keyword == "in") {
            c.inputs.push_back(readValue(words));
        } else if (keyword == "out") {
            c.outputs.push_back(readValue(words));
        } else if (keyword == "gout" || keyword == "gin") {
            int index = -1;
            words >> index;
            (keyword == "gin" ? c.expectedGrads : c.givenGrads)
                .emplace_back(index, readValue(words));
        } else if (keyword == "given2" || keyword == "gin2") {
            int index = -1;
            words >> index;
            (keyword == "gin2" ? c.expectedSecond : c.givenSecond)
                .emplace_back(index, readValue(words));
        } else if (keyword == "attr") {
            readAttr(c.attrs, words);
        } else {
            fail("there is no record " + keyword);
        }
    }

    DType readDType(const std::string& word) const {
        for (const DType dtype : kAllDTypes) {
            if (word == dtypeShortName(dtype)) return dtype;
        }
        fail("there is no dtype " + word);
    }

    CaseValue readValue(std::istringstream& words) const {
        CaseValue v;
        std::string word;
        words >> word;
        if (word == "none") {
            v.absent = true;
            return v;
        }
        if (word.starts_with("number-")) {
            v.number = true;
            word = word.substr(7);
        }
        v.dtype = readDType(word);
        while (words >> word && word != "|")
            v.sizes.push_back(std::strtoll(word.c_str(), nullptr, 10));
        while (words >> word) {
            v.values.push_back(std::strtod(word.c_str(), nullptr));
            if (isIntegral(v.dtype)) v.integers.push_back(std::strtoll(word.c_str(), nullptr, 10));
        }
        const std::int64_t parts = isComplex(v.dtype) ? 2 : 1;
        if (static_cast<std::int64_t>(v.values.size()) != parts * numelOf(v.sizes)) {
            fail(std::to_string(v.values.size()) + " values for the sizes " + toString(v.sizes));
        }
        return v;
    }

    void readAttr(Attrs& attrs, std::istringstream& words) const {
        std::string kind;
        std::string word;
        words >> kind;
        if (kind == "none") return attrs.push_back(std::monostate{});
        if (kind == "dims") {
            Dims dims;
            while (words >> word) dims.push_back(std::strtoll(word.c_str(), nullptr, 10));
            return attrs.push_back(dims);
        }
        words >> word;
        if (kind == "bool") return attrs.push_back(word == "1");
        if (kind == "int")
            return attrs.push_back(std::int64_t{std::strtoll(word.c_str(), nullptr, 10)});
        if (kind == "float") return attrs.push_back(std::strtod(word.c_str(), nullptr));
        if (kind == "dtype") return attrs.push_back(readDType(word));
        fail("there is no attribute kind " + kind);
    }

    std::ifstream m_in;
    std::string m_name;
    int m_line = 0;
};

/// Strides and extent of a layout; the elements in between hold values no test expects.
struct Placement {
    Dims strides;
    std::int64_t offset = 0;
    std::int64_t extent = 0;
};
Placement placementOf(const Dims& sizes, Layout layout) {
    Placement p;
    p.strides = contiguousStrides(sizes);
    p.extent = numelOf(sizes);
    const int rank = sizes.size();
    if (layout == Layout::Transposed && rank >= 2) {
        Dims swapped = sizes;
        std::swap(swapped[rank - 1], swapped[rank - 2]);
        p.strides = contiguousStrides(swapped);
        std::swap(p.strides[rank - 1], p.strides[rank - 2]);
    } else if (layout == Layout::Gapped) {
        for (std::int64_t& stride : p.strides) stride *= 2;
        p.offset = 1;
        p.extent = 2 * p.extent + 1;
    }
    return p;
}

/// The cases of every file whose name starts with prefix.
std::vector<OperatorCase> casesOf(const std::string& prefix) {
    std::vector<OperatorCase> cases;
    const std::filesystem::path folder = std::string(TAPESCOPE_TEST_DATA) + "/ops";
    std::set<std::string> names;  // a fixed order
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(prefix) && name.ends_with(".txt")) names.insert(name);
    }
    for (const std::string& name : names) Parser((folder / name).string(), name).read(cases);
    return cases;
}

}  // namespace

std::string_view layoutName(Layout layout) {
    return layout == Layout::Contiguous   ? "contiguous"
           : layout == Layout::Transposed ? "transposed"
                                          : "gapped";
}

Tensor makeTensor(const CaseValue& value, Layout layout, std::optional<DType> as) {
    if (value.absent) return {};
    if (value.number) {
        if (isComplex(value.dtype))
            return wrappedNumber(std::complex<double>(value.values[0], value.values[1]));
        return isIntegral(value.dtype) ? wrappedNumber(value.integers[0])
                                       : wrappedNumber(value.values[0]);
    }
    const DType dtype = as && isFloating(value.dtype) ? *as : value.dtype;
    const Placement p = placementOf(value.sizes, layout);
    const Tensor base = Tensor::empty({p.extent}, dtype);
    const auto fill = [&]<class T>() {
        constexpr std::size_t kParts = std::is_same_v<T, Complex64> ? 2 : 1;
        T* data = base.data<T>();
        for (std::int64_t i = 0; i < p.extent; ++i) data[i] = static_cast<T>(77);
        Dims index = Dims::filled(value.sizes.size(), 0);
        for (std::size_t i = 0; i < value.values.size() / kParts; ++i) {
            std::int64_t at = p.offset;
            for (int d = 0; d < index.size(); ++d) at += index[d] * p.strides[d];
            if constexpr (kParts == 2)
                data[at] = Complex64(static_cast<float>(value.values[2 * i]),
                                     static_cast<float>(value.values[2 * i + 1]));
            else
                data[at] = value.integers.empty() ? static_cast<T>(value.values[i])
                                                  : static_cast<T>(value.integers[i]);
            for (int d = index.size() - 1; d >= 0 && ++index[d] == value.sizes[d]; --d)
                index[d] = 0;
        }
    };
    if (isComplex(dtype))
        fill.operator()<Complex64>();
    else
        visitEveryDType(dtype, fill);
    return makeView(base, value.sizes, p.strides, p.offset);
}

bool hasComplex(const OperatorCase& c) {
    const auto complex = [](const CaseValue& v) { return isComplex(v.dtype); };
    return std::any_of(c.inputs.begin(), c.inputs.end(), complex) ||
           std::any_of(c.outputs.begin(), c.outputs.end(), complex);
}

const std::vector<OperatorCase>& operatorCases() {
    static const std::vector<OperatorCase> all = casesOf("reference_");
    return all;
}

const std::vector<OperatorCase>& dtypeCases() {
    static const std::vector<OperatorCase> all = casesOf("dtypes_");
    return all;
}

std::vector<OperatorCase> functionCases(const std::string& name) {
    std::vector<OperatorCase> cases;
    Parser(std::string(TAPESCOPE_TEST_DATA) + "/ops/" + name, name).read(cases);
    return cases;
}

}  // namespace tapescope::engine::test
