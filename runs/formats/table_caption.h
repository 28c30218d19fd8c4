// Internal to the formats: what the lines before a table say of all of it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runs/formats/load_columns.h"
#include "runs/formats/prose_labels.h"
#include "runs/formats/stated_setup.h"

namespace treeline::runs::run_formats_of {

/// Requests in flight that a heading names ("c=8", "BS 8", "8 users"); 0 for another heading.
int requests_of_heading(const std::string& heading);
/// The same of a part of a cell ("MTP n=1 (c=32)", "c32 / off"); 0 where none names some.
int requests_in_label(const std::string& cell);

/// Collects the headings that a table stands under and the paragraph before it. Where several say something, the nearest
/// counts.
class TableCaption {
public:
    /// A line that is of no table.
    void take(std::string_view line);
    /// What a heading of the table itself says of all its numbers.
    void take_heading(const std::string& heading) { paragraph_.push_back(heading); }
    /// A table has begun: another paragraph is of another.
    void end_paragraph();

    /// Its nearest line, as messages quote it; empty without.
    [[nodiscard]] std::string title() const;
    /// What numbers without a unit are: Role::rate ("tok/s"), Role::rate_of_user or Role::tpot ("ms per token"); else
    /// Role::none.
    [[nodiscard]] Role times() const;
    /// The unit of times in a column of this role that its heading does not name, in seconds; 0 where no line names one.
    [[nodiscard]] double unit_of(Role role) const;
    /// Whether it is a throughput, without a unit.
    [[nodiscard]] bool names_throughput() const;
    /// The draft tokens of every row ("MTP, k=3"; 0: "Baseline"); below 0 where nothing says it.
    [[nodiscard]] int drafts() const;
    /// The same where a line farther above states it for all that follows; below 0 where none does.
    [[nodiscard]] int drafts_from_above() const { return above_.drafts(); }
    /// Whether rows that say nothing else draft ("With MTP"), however many tokens.
    [[nodiscard]] bool drafting() const;
    /// Whether the nearest line names the reading of prompts ("Prefill (tok/s)"), and no decoding.
    [[nodiscard]] bool of_prompts() const;
    /// Whether a threshold ends the drafts of every row ("p-min = 0.85").
    [[nodiscard]] bool cuts() const;
    /// Requests in flight of every row ("concurrency 8", "BS1", "single stream"); 0 where nothing says it.
    [[nodiscard]] double batch() const;
    /// How its nearest line that says so shares the model out.
    [[nodiscard]] StatedRanks ranks() const;
    /// The model, format and device that it names, the nearest of each.
    [[nodiscard]] DeploymentWords deployment() const;
    /// The sides of an arrow ("no MTP -> MTP (n-max 3), tok/s").
    [[nodiscard]] std::optional<std::pair<std::string, std::string>> sides() const;

private:
    /// From the nearest to the farthest.
    [[nodiscard]] std::vector<std::string> parts() const;

    std::map<std::size_t, std::string> headings_;  ///< by level
    std::vector<std::string> paragraph_;
    std::set<std::string> switched_off_;  ///< what lines before name to be off ("LMTP off")
    StatedSetup above_;
    bool ended_ = false;
};

}  // namespace treeline::runs::run_formats_of
