// Internal to the formats: what the headings of a table say of its runs that has a metric in each row and a run in each column.
#pragma once

#include <string>
#include <vector>

#include "runs/formats/benchmarks.h"
#include "runs/formats/prose_labels.h"

namespace treeline::runs::run_formats_of {

/// A column's heading: the load and the drafts that it names, and what tells its deployment from others.
struct MetricHeading {
    std::string text;
    double requests = 0.0, context = 0.0;  ///< 0: names none
    StatedDrafts stated;
    std::string drafter;
    DeploymentWords deployment;

    /// Whether columns of both headings were measured at the same load with the same drafts, as far as they say it.
    [[nodiscard]] bool same_setting(const MetricHeading& other) const;
    /// Whether both name a model, a format, a device or a drafter, and not the same.
    [[nodiscard]] bool contradicts(const MetricHeading& other) const;
};

MetricHeading metric_heading(const std::string& text);
/// Headings of a row. One that adds to another ("Q4" and "Q4 + 0.5B") drafts with what it adds.
std::vector<MetricHeading> metric_headings(const std::vector<std::string>& texts);
/// Columns of what was compared, and not measured.
bool compares_runs(const std::string& heading);
/// Whether headings are statistics of one run ("avg", "min", "p50"), and not runs.
bool holds_quantiles(const std::vector<std::string>& headings);
/// "run 2", "#2", "2": the same again.
bool repeats_run(const std::string& heading);

}  // namespace treeline::runs::run_formats_of
