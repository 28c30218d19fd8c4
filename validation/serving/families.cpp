#include "validation/serving/families.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/traits.h"

namespace treeline::validation {
namespace {

/// What is known of how an unseen row came about: apart, or with something that was filled in, or stated.
std::string reservation_of(const MeasuredPoint& point) {
    return point.reports_defect           ? "unseen, apart: runs that they call defective"
           : point.length_at_bound        ? "unseen, apart: accept length at a bound"
           : !point.contradiction.empty() ? "unseen, apart: runs that contradict each other"
           : point.differs_in_more        ? "unseen, apart: runs that differ in more than speculation, they say"
           : !has_own_stack(point)        ? "unseen: engine without a stack of its own"
           : !point.assumed.empty()       ? "unseen: something filled in"
           : !point.prints_length         ? "unseen: accept length derived from rates or a range"
                                          : "unseen: what matters is stated";
}

/// "5 to 16" of the class that holds `value`; classes end at `ends`, the last one has no end.
template <std::size_t count>
std::string class_of(double value, const std::array<double, count>& ends) {
    double first = 1.0;
    for (const double end : ends) {
        if (value <= end) {
            return first >= end ? fmt::format("{}", end) : fmt::format("{} to {}", first, end);
        }
        first = end + 1.0;
    }
    return fmt::format("{} and more", first);
}

std::string format_of(const sim::Precision& precision) {
    const std::string_view weights = name_of(precision.weights.format);
    const std::string_view experts = name_of(precision.experts.format);
    return weights == experts ? std::string(weights) : fmt::format("{}, experts {}", weights, experts);
}

std::string drafter_of(const MeasuredPoint& point) {
    const bool tree = point.speculation && !std::holds_alternative<sim::ChainShape>(point.speculation->shape);
    return point.drafter_kind + (tree ? ", tree" : "");
}

std::string name_of_cut(const DeviceCut& cut) {
    return cut.parallel.pipeline > 1.0  ? "pipeline stages"
           : cut.parallel.data > 1.0    ? "attention data parallel"
           : cut.parallel.experts > 1.0 ? "experts dealt out"
           : cut.tensor > 1.0           ? "tensor parallel"
                                        : "one device";
}

}  // namespace

bool has_own_stack(const MeasuredPoint& point) { return point.own_stack && point.stack != sim::general_stack; }

std::string draft_class(double draft_tokens) { return class_of(draft_tokens, std::array{1.0, 3.0, 5.0, 8.0}); }

std::string batch_class(double batch) { return class_of(batch, std::array{1.0, 4.0, 16.0, 64.0, 256.0}); }

std::string group_of(const MeasuredPoint& point, const ServingParts& parts, Grouping grouping) {
    switch (grouping) {
        case Grouping::engine:
            return sim::engine_of_stack(point.stack);
        case Grouping::device:
            return point.device;
        case Grouping::deployment:
            return fmt::format("{} on {}, {}", point.model, point.device, sim::engine_of_stack(point.stack));
        case Grouping::kind:
            return sim::kind_of_model(parts.models.at(point.model));
        case Grouping::model:
            return point.model;
        case Grouping::format:
            return format_of(point.precision);
        case Grouping::ranks:
            return fmt::format("{}", point.cut.devices());
        case Grouping::cut:
            return name_of_cut(point.cut);
        case Grouping::batch:
            return batch_class(point.batch);
        case Grouping::answer:
            return point.output_tokens > 0.0 ? class_of(point.output_tokens, std::array{255.0, 1023.0, 4095.0})
                                             : "decoding alone";
        case Grouping::drafter:
            return drafter_of(point);
        case Grouping::draft_length:
            return draft_class(draft_tokens_of(point));
        case Grouping::load:
            return point.batch > 32.0 ? "33 and more" : "1 to 32";
        case Grouping::sources:
            return point.documented ? "every condition published" : "others";
        case Grouping::conditions:
            return point.assumed.empty() ? "as stated" : fmt::format("filled in: {}", fmt::join(point.assumed, ", "));
        case Grouping::evidence:
            return point.seen             ? "sources that numbers were fitted to"
                   : point.stands_apart() ? ""
                                          : "sources that no number was fitted to";
        case Grouping::reservations:
            return point.seen ? "" : reservation_of(point);
        case Grouping::citation:
            return point.citation;
        case Grouping::stacks:
            return has_own_stack(point) ? "engine with a stack" : "engine without a stack of its own";
        case Grouping::context:
            return class_of(point.context, std::array{2047.0, 16383.0, 65535.0});
    }
    return {};
}

}  // namespace treeline::validation
