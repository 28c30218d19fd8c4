// What rows are grouped by: for tables of errors, and to leave whole families out.
#pragma once

#include <string>
#include <vector>

#include "sim/enum_names.h"
#include "validation/serving/points.h"

namespace treeline::validation {

enum class Grouping {
    engine,
    device,
    kind,
    model,
    format,
    ranks,
    cut,
    batch,
    answer,
    drafter,
    draft_length,
    context,
    load,
    sources,
    conditions,
    stacks,
    evidence,
    reservations,
    citation,
    deployment
};
constexpr auto names_in(Grouping) {
    using enum Grouping;
    return enum_names<Grouping>({{engine, "engine"},     {device, "device"},        {kind, "kind of model"},
                                 {model, "model"},       {format, "format"},        {ranks, "devices"},
                                 {cut, "cut"},           {batch, "batch"},          {answer, "answer"},
                                 {drafter, "drafter"},   {draft_length, "draft"},   {context, "context"},
                                 {load, "load"},         {sources, "sources"},      {conditions, "conditions"},
                                 {stacks, "stack"},      {evidence, "evidence"},    {reservations, "reservations"},
                                 {citation, "citation"}, {deployment, "deployment"}});
}

/// The group of a point: "vllm" (whatever the version), "b200", "mixture", "17 to 64", … A deployment is a model on a device
/// with an engine. Empty where a grouping leaves the point out.
std::string group_of(const MeasuredPoint& point, const ServingParts& parts, Grouping grouping);

/// Whether the point is priced by numbers of its engine.
bool has_own_stack(const MeasuredPoint& point);

/// Classes of draft lengths and batches, fine enough for medians and coarse enough for cases.
std::string draft_class(double draft_tokens);
std::string batch_class(double batch);

}  // namespace treeline::validation
