// Internal to the formats: a table of measurements with a load or a draft length in each row.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "runs/builder.h"
#include "runs/formats/load_columns.h"
#include "runs/formats/prose_labels.h"
#include "runs/formats/table_caption.h"

namespace treeline::runs::run_formats_of {

/// Requests in flight of a cell in a column of them ("4", "×4", "x4", "single stream"); 0 where it says none.
double requests_in_cell(const std::string& cell);

/// Understands the columns of one table by their words, by the units of its first row and by its caption, and adds its rows to
/// a run.
class LoadTable {
public:
    LoadTable(std::vector<std::string> headings, TableCaption caption, const char* format = "a table of measured loads")
        : format_(format), names_(std::move(headings)), caption_(std::move(caption)) {}

    /// Adds a row of as many cells as headings. False if the first row does not make a table of loads of it; then it takes no
    /// further one.
    bool take(std::vector<std::string> cells, RunBuilder& run);
    /// Whether a column or the caption names its model, format or device.
    [[nodiscard]] bool names_deployment() const;
    /// Rows at loads that another table has measured are left out: of which deployment these are is not known.
    void keep_apart() { keeps_apart_ = true; }
    /// What was read before its first row; once it is a table.
    [[nodiscard]] const std::optional<RunBuilder>& before() const { return before_; }
    /// Why its rows are of another set-up than numbers before it; empty where nothing says so.
    [[nodiscard]] const std::string& contradiction() const { return contradiction_; }
    /// The column that tells set-ups apart, where rows of plain decoding that are alike but for it run at different speeds: the
    /// table is to be read anew with that column.
    [[nodiscard]] std::optional<std::size_t> found_apart() const { return found_apart_; }
    /// Only rows that say the same in this column as the first row are of the run.
    void keep_apart_by(std::size_t column) { apart_by_ = column; }
    /// Why it is none; empty where its first row holds no number.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }
    /// Whether that is a unit which nothing names, or which is not known.
    [[nodiscard]] bool lacks_unit() const {
        return !why_not_.empty() && (!columns_without_unit().empty() || !unknown_unit().empty());
    }

private:
    struct Times {
        double rate, rate_of_user, tpot;
        [[nodiscard]] bool known() const { return rate > 0.0 || rate_of_user > 0.0 || tpot > 0.0; }
        /// A time per token with so many requests in flight.
        [[nodiscard]] double seconds(double batch) const;
    };

    std::vector<std::string> split_arrows(std::vector<std::string> cells, bool drafting);
    void name_sides(bool drafting);
    bool understand(RunBuilder& run);
    void tell_times_from_drafts();
    void take_blocks();
    void take_lengths_of_drafts();
    void take_units_of_others();
    [[nodiscard]] bool loads_are_rates() const;
    void say_unnamed(RunBuilder& run);
    void settle_meanings();
    [[nodiscard]] bool counts_drafts(const std::string& depth) const;
    void take_medians();
    void leave_out_beside_means();
    void take_loads();
    void take_throughput(RunBuilder& run);
    void take_rates_by_speedup(RunBuilder& run);
    [[nodiscard]] std::string unknown_load() const;
    [[nodiscard]] std::string unknown_unit() const;
    bool take_throughput_of_sides();
    void keep_overall(Role role);
    std::string leave_out_further_drafters();
    void say_further_plain(RunBuilder& run) const;
    [[nodiscard]] std::string columns_without_unit() const;
    [[nodiscard]] std::string reason(bool timed) const;

    [[nodiscard]] bool is_of_prompts() const;
    [[nodiscard]] bool has_metrics_in_rows() const;
    [[nodiscard]] std::vector<std::size_t> columns_of_lengths() const;
    [[nodiscard]] std::vector<std::size_t> columns_of_loads() const;
    [[nodiscard]] bool heading_names_answer() const;
    [[nodiscard]] double seconds(Role role, bool plain) const;
    [[nodiscard]] double unit_of_column(std::size_t column) const;
    [[nodiscard]] bool has(Role role) const { return has(role, false) || has(role, true); }
    [[nodiscard]] bool has(Role role, bool plain) const { return at(role, plain) < columns_.size(); }
    [[nodiscard]] bool has_times(bool plain) const;
    [[nodiscard]] std::size_t at(Role role, bool plain) const;
    [[nodiscard]] std::string cell(Role role, bool plain = false) const;
    [[nodiscard]] double number(Role role, bool plain = false) const;
    [[nodiscard]] double length_of_row() const;
    [[nodiscard]] double length_beside(std::size_t times) const;
    [[nodiscard]] double rate_accepted() const;
    [[nodiscard]] double spread_of_rate() const;
    [[nodiscard]] bool has_wide_rate(RunBuilder& run) const;
    [[nodiscard]] bool counts_accepted() const;
    [[nodiscard]] std::string rate_beside_time() const;
    [[nodiscard]] double length_by_position(int drafts) const;
    [[nodiscard]] int drafts_of_row() const;
    [[nodiscard]] int drafts_of_lines_above() const;
    [[nodiscard]] int drafts_of_labels() const;
    [[nodiscard]] std::optional<bool> switched() const;
    [[nodiscard]] bool row_names_drafter() const;
    [[nodiscard]] SglangDraft sglang_draft_of_row() const;
    [[nodiscard]] bool is_of_tree() const;
    bool passes_over(RunBuilder& run);
    bool is_no_measurement(RunBuilder& run) const;
    bool has_contradicting_units(RunBuilder& run) const;
    bool has_impossible_numbers(RunBuilder& run) const;
    [[nodiscard]] bool has_column_without_heading(const std::vector<std::string>& cells) const;
    void keep_averages();
    void keep_statistics(std::vector<std::string>& cells);
    bool take_acceptance_of_row(const std::string& label, RunBuilder& run);
    [[nodiscard]] std::string engine_of_row() const;
    [[nodiscard]] std::string drafter_of_row() const;
    [[nodiscard]] std::string method_of_row() const;
    [[nodiscard]] bool lacks_acceptance_of_model() const;
    std::string other_deployment();
    [[nodiscard]] std::string variant_of_row() const;
    void tell_variant(RunBuilder& run);
    [[nodiscard]] bool says_that_it_drafts() const;
    [[nodiscard]] std::string heading_of_times(bool beside_plain) const;
    [[nodiscard]] Times times(bool plain) const;
    [[nodiscard]] double requests(RunBuilder& run) const;

    void add(bool plain, RunBuilder& run);
    void compare(const RunCell& before, const Times& measured, double batch);
    [[nodiscard]] std::optional<std::size_t> column_apart(const std::vector<std::string>& other) const;
    [[nodiscard]] std::string other_setup();
    void add_cell(bool plain, int drafts, double length, const Times& times, RunBuilder& run);

    const char* format_;
    std::vector<std::string> names_, row_;
    TableCaption caption_;
    std::vector<Column> columns_;
    std::map<std::size_t, std::size_t> statistics_;  ///< which number of its cells is read, by column ("mean / max")
    std::vector<std::size_t> arrows_;                ///< columns whose cells hold two numbers
    std::set<std::size_t> speedups_;                 ///< those of them in which a factor between the two stands before them
    std::string arrow_cell_;                         ///< the first such cell
    std::optional<std::size_t> only_;                ///< the column of times that is read, where each is of a draft length
    std::string why_not_;
    std::map<std::size_t, std::string> deployment_;  ///< what the first row says of its model or device, by column
    DeploymentWords labelled_;                       ///< what labels of the first rows say of it
    std::string variant_, other_variant_;            ///< what the first row ran with, and this one if that is another
    std::string engine_;                             ///< that the first row with one names
    std::string drafter_;                            ///< the kind that the first row with one names
    /// A row that measured a load first.
    struct OwnLoad {
        std::vector<std::string> row;
        double seconds = 0.0;  ///< per token
    };
    std::map<std::tuple<int, double, long, std::string>, OwnLoad> own_loads_;  ///< by draft tokens, batch, context, variant
    std::optional<std::size_t> apart_by_, found_apart_;
    std::string apart_;  ///< what that column says in the first row
    std::string contradiction_;
    std::optional<RunBuilder> before_;
    long rows_ = 0, plain_rows_ = 0;
    bool is_none_ = false;  ///< its first row made no table of it
    bool keeps_apart_ = false;
};

}  // namespace treeline::runs::run_formats_of
