// The end of a RunBuilder's work: what of a run is left out, what refuses it, and the run.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/rates_by_load.h"
#include "text/input_error.h"
#include "text/wording.h"

namespace treeline::runs {

void RunBuilder::take_over_commands() {
    RunIdentity& known = run_.identity;
    if (!known.engine.empty() && !commanded_.front().contains(known.engine)) {
        return;  // of another server
    }
    if (commanded_.front().size() > 1) {
        return;
    }
    for (std::size_t i = 0; i < commanded_.size(); ++i) {
        std::string& name = known.*commanded_fields[i];
        name = name.empty() && commanded_[i].size() == 1 ? *commanded_[i].begin() : name;
    }
    known.ranks = known.ranks <= 0.0 && commanded_ranks_.size() == 1 ? *commanded_ranks_.begin() : known.ranks;
}

void RunBuilder::keep_variants_apart() {
    std::vector<RunCell> own;
    for (RunCell& cell : run_.cells) {
        const bool apart = !cell.variant.empty();
        cell.variant = apart ? cell.variant : own_variant_;
        (apart ? run_.elsewhere : own).push_back(std::move(cell));
    }
    run_.cells = std::move(own);
}

/// A program that times plain decoding and drafts compares them itself: plain decoding that another one of the file timed
/// otherwise at the same batch, and nothing else, is of other prompts, and is left out.
void RunBuilder::leave_out_other_baselines() {
    constexpr double differs = 0.1;
    std::set<std::string> drafting;
    for (std::size_t i = 0; i < run_.cells.size(); ++i) {
        if (run_.cells[i].draft_tokens > 0 && run_.cells[i].tpot.known()) {
            drafting.insert(formats_of_cells_[i]);
        }
    }
    const auto times_plain = [&](std::size_t i) { return run_.cells[i].draft_tokens == 0 && run_.cells[i].tpot.known(); };
    std::map<double, std::size_t> compared;  // cells, by batch
    for (std::size_t i = 0; i < run_.cells.size(); ++i) {
        if (times_plain(i) && drafting.contains(formats_of_cells_[i])) {
            compared.emplace(run_.cells[i].batch, i);
        }
    }
    std::vector<RunCell> kept;
    for (std::size_t i = 0; i < run_.cells.size(); ++i) {
        const RunCell& own = run_.cells[i];
        const auto other = compared.find(own.batch);
        const bool apart = times_plain(i) && other != compared.end() && !drafting.contains(formats_of_cells_[i]);
        const double beside = apart ? run_.cells[other->second].tpot.mean() : 0.0;
        if (!apart || std::abs(own.tpot.mean() / beside - 1.0) <= differs) {
            kept.push_back(own);
            continue;
        }
        remark(
            fmt::format("{}: plain decoding at {:.3g} tokens/s ({}) was left out beside {:.3g} ({}), with which drafts were "
                        "compared",
                        file_, 1.0 / own.tpot.mean(), formats_of_cells_[i], 1.0 / beside, formats_of_cells_[other->second]));
    }
    run_.cells = std::move(kept);
}

void RunBuilder::leave_out_bad_records() {
    if (file_is_bad_ || good_records_ <= bad_records_) {
        return;
    }
    for (const std::string& problem : problems_) {
        remark(problem + "; it is left out");
    }
    if (bad_records_ > static_cast<long>(problems_.size())) {
        remark(fmt::format("{}: {} records in all are left out for reasons of that kind", file_, bad_records_));
    }
    problems_.clear();
}

/// Loads of which all records were left out.
void RunBuilder::leave_out_empty_cells() {
    std::vector<RunCell> kept;
    std::vector<std::string> formats;
    for (std::size_t i = 0; i < run_.cells.size(); ++i) {
        const RunCell& cell = run_.cells[i];
        const bool timed = cell.round.known() || cell.tpot.known() || cell.ttft.known() || cell.drafting.known() ||
                           cell.tokens_per_second.known() || cell.captured_steps + cell.eager_steps > 0.0;
        if (timed || cell.acceptance.known() || cell.stated_length > 0.0) {
            kept.push_back(cell);
            formats.push_back(formats_of_cells_[i]);
        }
    }
    run_.cells = std::move(kept);
    formats_of_cells_ = std::move(formats);
}

/// What no load can be refuses the file; what only a defect explains is said.
void RunBuilder::judge_cells() {
    line_ = 0;
    for (const std::vector<RunCell>* cells : {&run_.cells, &run_.elsewhere}) {
        for (const RunCell& cell : *cells) {
            for (const std::string& wrong : cell.problems()) {
                problem(wrong);
            }
            if (cell.acceptance.rising_position()) {
                remark(fmt::format("{}: {}.", file_, rising_remark));
            }
        }
    }
}

MeasuredRun RunBuilder::take() {
    if (broken()) {
        throw text::InputError(contradictions_);
    }
    leave_out_bad_records();
    if (!is_own_run_) {
        leave_out_empty_cells();
    }
    judge_cells();
    if (problems_.empty() && formats_.empty()) {
        throw UnknownFormat(file_, unread_);
    }
    if (problems_.empty() && run_.cells.empty() && run_.passes.empty() && run_.identity.model.empty()) {
        line_ = 0;
        problem(fmt::format("looks like {}, but measures nothing: neither accepted drafts nor times of steps",
                            text::listed(formats_, "and")));
        problems_.insert(problems_.end(), run_.remarks.begin(), run_.remarks.end());  // why
    }
    if (!problems_.empty()) {
        throw text::InputError(problems_);
    }
    take_over_commands();
    if (!is_own_run_) {
        say_undrafted_rounds();
        leave_out_other_baselines();
        keep_variants_apart();
    }
    if (const std::string doubt = doubt_of_totals(run_); !doubt.empty()) {
        remark(file_ + ": " + doubt);
    }
    return std::move(run_);
}

}  // namespace treeline::runs
