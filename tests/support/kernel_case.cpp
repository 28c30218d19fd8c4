#include "kernel_case.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "kernels/reference/element_access.h"

namespace treeline::testing {

using kernels::ElementType;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::byte> filled(std::int64_t elements, ElementType type, double value) {
    std::vector<std::byte> bytes(std::size_t(elements) * kernels::bytes_of(type));
    for (std::int64_t i = 0; i < elements; ++i) {
        kernels::reference::store(bytes.data(), type, i, value);
    }
    return bytes;
}

std::vector<std::byte> random_rows(int rows, int width, std::int64_t stride, ElementType type, std::mt19937_64& random,
                                   double low, double high) {
    std::vector<std::byte> bytes = filled(rows * stride, type, nan);
    std::uniform_real_distribution<double> value(low, high);
    for (int row = 0; row < rows; ++row) {
        for (int i = 0; i < width; ++i) {
            kernels::reference::store(bytes.data(), type, row * stride + i, value(random));
        }
    }
    return bytes;
}

}  // namespace

InputRows::InputRows(int rows, int width, ElementType type, std::mt19937_64& random, double low, double high, int gap)
    : type_(type), stride_((width + 7) / 8 * 8 + gap), bytes_(random_rows(rows, width, stride_, type, random, low, high)) {}

Output::Output(int rows, int width, ElementType type)
    : type_(type),
      width_(width),
      reference_(std::size_t(rows) * std::size_t(width), nan),
      device_(filled(std::int64_t{rows} * width, type, nan)) {}

Output::Output(int rows, int width, ElementType type, std::mt19937_64& random, double low, double high)
    : type_(type), width_(width), device_(random_rows(rows, width, width, type, random, low, high)) {
    for (std::int64_t i = 0; i < std::int64_t{rows} * width; ++i) {
        reference_.push_back(kernels::reference::load(device_.on(Side::reference), type, i));
    }
}

kernels::Rows Output::on(Side side) {
    if (side == Side::reference) {
        return {reference_.data(), ElementType::fp64, width_};
    }
    return {device_.on(Side::device), type_, width_};
}

std::vector<double> Output::device_values() const {
    const std::vector<std::byte> bytes = device_.from_device();
    std::vector<double> values(reference_.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = kernels::reference::load(bytes.data(), type_, static_cast<std::int64_t>(i));
    }
    return values;
}

double Output::relative_error(double typical) const {
    const std::vector<double> device = device_values();
    double difference = 0.0, size = 0.0, least = 0.0;
    for (std::size_t i = 0; i < device.size(); ++i) {
        if (std::isnan(reference_[i]) != std::isnan(device[i])) {
            return std::numeric_limits<double>::infinity();
        }
        if (!std::isnan(reference_[i])) {
            difference += (device[i] - reference_[i]) * (device[i] - reference_[i]);
            size += reference_[i] * reference_[i];
            least += typical * typical;
        }
    }
    return difference == 0.0 ? 0.0
                             : std::sqrt(difference / std::max(size, least));  // nothing but zeros, when every row is absent
}

double tolerance(std::initializer_list<ElementType> types) {
    for (const ElementType type : types) {
        if (type == ElementType::bf16) {
            return 2e-2;
        }
    }
    return 1e-5;
}

std::uint64_t test_seed() {
    const char* given = std::getenv("TREELINE_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

double typical_product(int terms) { return std::sqrt(double(terms)) / 3.0; }

std::string name_of(ElementType type) {
    switch (type) {
        case ElementType::bf16:
            return "bf16";
        case ElementType::fp8:
            return "fp8";
        case ElementType::int8:
            return "int8";
        case ElementType::int32:
            return "int32";
        case ElementType::fp32:
        case ElementType::fp64:
            break;
    }
    return "fp32";
}

std::vector<sim::DraftTree> test_trees(std::mt19937_64& random) {
    std::vector<int> comb;  // every token of the spine has a second child
    for (int spine = 0; comb.size() < 20; spine = static_cast<int>(comb.size()) - 1) {
        comb.push_back(spine);
        comb.push_back(spine);
    }
    std::vector<int> any;
    for (int i = 0; i < 40; ++i) {
        any.push_back(std::uniform_int_distribution<int>(0, i)(random));
    }
    const sim::RankAcceptance none;
    return {sim::DraftTree(),
            sim::build_tree(sim::ChainShape{5}, none),
            sim::build_tree(sim::ChainShape{63}, none),
            sim::DraftTree::from_parents(comb),
            sim::build_tree(sim::BinaryShape{4}, none),
            sim::build_tree(sim::BinaryShape{6}, none),
            sim::build_tree(sim::BranchingShape{{3, 2, 2, 1}}, none),
            sim::build_tree(sim::SequencesShape{4, 4}, none),
            sim::build_tree(sim::WidthsShape{{8, 30, 32, 10}}, none),  // 81 tokens: more than one word of the mask
            sim::DraftTree::from_parents(any)};
}

TreeOnBoth::TreeOnBoth(const sim::DraftTree& tree)
    : tokens_(tree.verified_tokens()),
      words_(kernels::packed_tree(tree).mask.words_per_row),
      parent_(kernels::packed_tree(tree).parent),
      level_(kernels::packed_tree(tree).level),
      ancestors_(kernels::packed_tree(tree).mask.bits) {}

kernels::TreeView TreeOnBoth::on(Side side) const {
    return {tokens_, words_, parent_.on(side), level_.on(side), ancestors_.on(side)};
}

int pick(std::mt19937_64& random, std::initializer_list<int> values) {
    const auto index = std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random);
    return *(values.begin() + index);
}

std::vector<float> random_floats(std::mt19937_64& random, std::size_t count, double low, double high) {
    std::vector<float> values;
    std::uniform_real_distribution<double> value(low, high);
    for (std::size_t i = 0; i < count; ++i) {
        values.push_back(static_cast<float>(value(random)));
    }
    return values;
}

}  // namespace treeline::testing
