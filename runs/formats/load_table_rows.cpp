// Which rows of a table of loads are measurements of its deployment.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "runs/formats/load_numbers.h"
#include "runs/formats/load_table.h"
#include "runs/formats/sglang_counts.h"
#include "runs/formats/stated_lengths.h"
#include "runs/formats/time_units.h"
#include "text/wording.h"

namespace treeline::runs::run_formats_of {
namespace {

std::string lower_case_of(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// "8B" of "8B + EAGLE3": a model without the drafter beside it.
std::string without_drafter(const std::string& cell) {
    const std::size_t plus = cell.find('+');
    const bool drafts = plus != std::string::npos && names_drafter(plain_words(std::string_view(cell).substr(plus)));
    return drafts ? cell.substr(0, plus) : cell;
}

/// A whole number from 0 on, or a cell that holds no number; another number counts no drafts.
bool may_count_drafts(const std::string& cell) {
    const std::optional<double> number = number_of(cell);
    return !number || (*number >= 0.0 && std::floor(*number) == *number);
}

/// What a row is of whose label names something else than decoding.
enum class RowOf { decoding, acceptance, prompts, memory };

/// "pp512", of llama.cpp's tests.
bool names_prompt_test(const std::string& words) {
    const std::size_t at = (" " + words).find(" pp");
    const std::size_t digit = at == std::string::npos ? at : at + 2;
    return digit < words.size() && std::isdigit(static_cast<unsigned char>(words[digit])) != 0;
}

/// By the words that its label ends in, without what stands in brackets: "K=3 acceptance", "MTP VRAM (GB)".
RowOf what_row_is_of(const std::string& label) {
    const std::string words = plain_words(label.substr(0, label.find('(')));
    const auto ends = [&](std::initializer_list<const char*> phrases) {
        return std::any_of(phrases.begin(), phrases.end(),
                           [&](const std::string& phrase) { return words == phrase || words.ends_with(" " + phrase); });
    };
    if (ends({"acceptance", "accept", "accept rate", "acceptance rate", "acceptance ratio", "accepted"})) {
        return RowOf::acceptance;
    }
    if (ends({"vram", "memory", "ram", "memory usage", "vram usage", "peak memory"})) {
        return RowOf::memory;
    }
    const bool prompts = ends({"ttft", "time to first token", "first token", "prefill", "prompt processing", "pp"});
    return prompts || (names_prompt_test(words) && !names_generation(words)) ? RowOf::prompts : RowOf::decoding;
}

/// Whether the unit of a cell is of no rate and no time per token: "61%", "22.3 GB", "1.5x", and, of rates, "0.5 s".
bool contradicts_time(const std::string& cell, Role role) {
    const std::string unit = unit_of(cell), words = plain_words(unit), first = words.substr(0, words.find(' '));
    static constexpr std::array<std::string_view, 8> others = {"gb", "gib", "mb", "mib", "w", "kw", "x", "percent"};
    const std::size_t sign = std::min(unit.find_first_not_of(' '), unit.size());
    const std::string_view behind = std::string_view(unit).substr(sign);
    return behind.starts_with('%') || behind.starts_with("\u00D7") ||
           std::find(others.begin(), others.end(), first) != others.end() ||
           (role != Role::tpot && words == first && unit_in_cell(cell).named());
}

}  // namespace

double requests_in_cell(const std::string& cell) {
    std::string count = cell;
    for (const std::string_view times : {"x", "X", "\u00D7"}) {
        count = count.starts_with(times) ? count.substr(times.size()) : count;
    }
    TableCaption label;  // "single stream"
    label.take(cell);
    return std::max({number_of(count).value_or(0.0), label.batch(), static_cast<double>(requests_in_label(cell))});
}

double LoadTable::requests(RunBuilder& run) const {
    if (only_ && columns_[*only_].requests > 0) {
        return columns_[*only_].requests;
    }
    if (const double own = requests_in_cell(cell(Role::batch)); own >= 1.0) {
        return own;
    }
    for (std::size_t i = 0; i < columns_.size() && i < row_.size(); ++i) {
        const bool labels = columns_[i].role == Role::setup ||
                            (columns_[i].role == Role::none && !names_something_else(plain_words(names_[i])));
        TableCaption label;  // "4 concurrent"
        label.take(labels ? row_[i] : "");
        if (const double labelled = labels ? std::max<double>(label.batch(), requests_in_label(row_[i])) : 0.0;
            labelled >= 1.0) {
            return labelled;
        }
    }
    const double said = caption_.batch(), stated = said >= 1.0 ? said : run.client().in_flight,
                 batch = run.batch_or(stated >= 1.0 ? stated : 1.0);
    if (!(stated >= 1.0) && run.batch_or(0.0) < 1.0) {
        run.remark(
            fmt::format("{}: states no requests in flight; {:g} is assumed (--batch says another number)", run.file(), batch));
    }
    return batch;
}

/// Whether the row is no measurement of decoding, which is then said, or its acceptance is taken.
bool LoadTable::passes_over(RunBuilder& run) {
    const std::string load = cell(Role::batch);
    if (!plain_words(load).empty() && !means_plain(plain_words(load)) && !(requests_in_cell(load) >= 1.0)) {
        run.problem(fmt::format("gives \"{}\" for the requests in flight, which is no number", load));
        return true;
    }
    for (std::size_t i = 0; i < columns_.size() && i < row_.size(); ++i) {
        const bool labels =
            columns_[i].role == Role::setup || columns_[i].role == Role::test || (i == 0 && !number_of(row_[i]));
        const RowOf what = labels ? what_row_is_of(row_[i]) : RowOf::decoding;
        if (what == RowOf::acceptance && take_acceptance_of_row(row_[i], run)) {
            return true;
        }
        if (what != RowOf::decoding) {
            run.remark(fmt::format("{}: the row \"{}\" is of no decoding and was left out", run.file(), row_[i]));
            return true;
        }
    }
    return is_no_measurement(run) || has_contradicting_units(run) || has_impossible_numbers(run);
}

/// Whether a cell says what cannot be: drafts that are no count, less than a token of a round, a share below 0, or a unit that
/// is not known. The row is then a problem.
bool LoadTable::has_impossible_numbers(RunBuilder& run) const {
    for (std::size_t i = 0; i < columns_.size() && i < row_.size(); ++i) {
        const Role role = columns_[i].role;
        const std::optional<double> number = number_of(row_[i]);
        std::string wrong;
        if ((role == Role::drafts || role == Role::tree) && !may_count_drafts(row_[i])) {
            wrong = fmt::format("gives {} for the draft tokens (\"{}\"), which are counted", row_[i], names_[i]);
        } else if (role == Role::length && number && *number + columns_[i].bonus < 1.0 && *number != 0.0) {
            wrong = fmt::format("gives an accept length of {} (\"{}\"); a round yields at least 1 token", row_[i], names_[i]);
        } else if (role == Role::accept_rate && number && *number < 0.0) {
            wrong = fmt::format("gives {} for the share of drafts that is accepted (\"{}\")", row_[i], names_[i]);
        } else if (const bool time = role == Role::tpot || role == Role::ttft; time && !unit_in_cell(row_[i]).unknown.empty()) {
            wrong = unknown_unit_text(unit_in_cell(row_[i]).unknown, "\"" + row_[i] + "\"");
        }
        if (!wrong.empty()) {
            run.problem(wrong);
            return true;
        }
    }
    return false;
}

/// "~232 (projected)".
bool LoadTable::is_no_measurement(RunBuilder& run) const {
    static constexpr std::array words = {"projected",    "projection", "estimated", "estimate", "theoretical",
                                         "extrapolated", "predicted",  "unrun",     "not run",  "not measured"};
    for (std::size_t i = 0; i < columns_.size() && i < row_.size(); ++i) {
        const bool tells = is_time(columns_[i].role) || columns_[i].role == Role::setup;
        const std::string own = tells ? plain_words(row_[i]) : "";
        if (std::any_of(words.begin(), words.end(), [&](const char* word) { return says(own, word); })) {
            run.remark(fmt::format("{}: a row with \"{}\" was left out: it was not measured", run.file(), row_[i]));
            return true;
        }
    }
    return false;
}

/// Whether no cell of times holds one; "61%" and "22.3 GB" are none.
bool LoadTable::has_contradicting_units(RunBuilder& run) const {
    std::string other;
    for (std::size_t i = 0; i < columns_.size() && i < row_.size(); ++i) {
        if (!is_time(columns_[i].role) || !number_of(row_[i])) {
            continue;
        }
        if (!contradicts_time(row_[i], columns_[i].role)) {
            return false;
        }
        other = row_[i];
    }
    if (!other.empty()) {
        run.remark(fmt::format("{}: a row with \"{}\" in a column of times was left out", run.file(), other));
    }
    return !other.empty();
}

/// A row of acceptance below the rates ("K=3 acceptance | 61%"); false where it does not name its draft tokens.
bool LoadTable::take_acceptance_of_row(const std::string& label, RunBuilder& run) {
    const int drafts = drafts_of_setting(label);
    for (std::size_t i = 1; drafts > 0 && i < columns_.size() && i < row_.size(); ++i) {
        const std::optional<double> share = number_of(row_[i]);
        const bool percent = row_[i].find('%') != std::string::npos;
        if (is_time(columns_[i].role) && share && *share > 0.0 && (percent || *share <= 1.0)) {
            const double rate = *share * (percent ? 0.01 : 1.0);
            run.state_length(run.cell(requests(run), drafts), run.length_of_rate(rate, drafts));
            return true;
        }
    }
    return false;
}

/// Of several columns of plain decoding ("TP4 baseline", "TP8 baseline") one is read.
void LoadTable::say_further_plain(RunBuilder& run) const {
    for (const Role role : time_roles) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (columns_[i].role == role && columns_[i].plain && columns_[i].requests == 0) {
                names.push_back("\"" + names_[i] + "\"");
            }
        }
        if (names.size() > 1) {
            run.remark(fmt::format("{}: of the columns {} \"{}\" was taken for plain decoding", run.file(),
                                   text::listed(names, "and"), names_[at(role, true)]));
        }
    }
}

/// The kind that the row names as its setting or beside its model ("8B + EAGLE3").
std::string LoadTable::drafter_of_row() const {
    std::string drafter = drafter_in(plain_words(cell(Role::setup)));
    for (std::size_t i = 0; drafter.empty() && i < names_.size() && i < row_.size(); ++i) {
        const bool adds = tells_deployment(plain_words(names_[i])) && without_drafter(row_[i]) != row_[i];
        drafter = adds ? drafter_in(plain_words(row_[i])) : "";
    }
    return drafter.empty() && !drafter_.empty() ? method_of_row() : drafter;
}

/// What a column of methods calls a drafter that no word of ours names ("fr-spec"); empty where it says less, or more.
std::string LoadTable::method_of_row() const {
    static const std::vector<std::string> columns = {"method", "drafter", "algorithm", "draft method", "speculator"};
    for (std::size_t i = 0; i < names_.size() && i < row_.size(); ++i) {
        const std::string words = plain_words(row_[i]);
        const bool says_nothing = words.empty() || means_plain(words) || drafts_of_setting(row_[i]) >= 0 ||
                                  words.find_first_of("0123456789") != std::string::npos;
        if (std::find(columns.begin(), columns.end(), plain_words(names_[i])) != columns.end() && !says_nothing) {
            const bool general = words == "speculative" || words == "speculation" || words == "spec" || words == "draft";
            return general || words == "speculative decoding" ? "" : words;
        }
    }
    return {};
}

/// The engine that a column of engines names.
std::string LoadTable::engine_of_row() const {
    static const std::vector<std::string> columns = {"engine",           "runtime", "framework",
                                                     "inference engine", "server",  "software"};
    for (std::size_t i = 0; i < names_.size() && i < row_.size(); ++i) {
        if (std::find(columns.begin(), columns.end(), plain_words(names_[i])) != columns.end()) {
            return engine_in(plain_words(row_[i]));
        }
    }
    return {};
}

/// "| 8B | 100 | - |" in a table of models with acceptance: without a drafter beside it, it is decoded plainly.
bool LoadTable::lacks_acceptance_of_model() const {
    const bool models = std::any_of(names_.begin(), names_.end(), [](const std::string& name) {
        const std::string words = plain_words(name);
        return words == "model" || words == "main model" || words == "target model";
    });
    const auto lacks = [&](Role role) {
        const std::string words = plain_words(cell(role));
        return has(role) && (words.empty() || means_plain(words));
    };
    return models && drafter_of_row().empty() && !caption_.drafting() &&
           (has(Role::length) ? lacks(Role::length) : lacks(Role::accept_rate));
}

bool LoadTable::names_deployment() const {
    return caption_.deployment().any() || std::any_of(names_.begin(), names_.end(), [](const std::string& name) {
               return tells_deployment(plain_words(name));
           });
}

/// Why the row is of another model, format or device than the first one; empty where it is not.
std::string LoadTable::other_deployment() {
    for (std::size_t i = 0; i < names_.size() && i < row_.size(); ++i) {
        const std::string name = plain_words(names_[i]), own = plain_words(without_drafter(row_[i]));
        if (!tells_deployment(name) || tells_variant(name)) {
            continue;
        }
        std::string& first = deployment_[i];
        first = first.empty() ? own : first;
        if (!own.empty() && own != first) {
            return fmt::format("rows of another {} than the first were left out: a run is of one deployment", name);
        }
    }
    const std::string engine = engine_of_row();
    engine_ = engine_.empty() ? engine : engine_;
    if (engine != engine_ && !engine.empty()) {
        return fmt::format("rows of {} beside those of {} were left out: a run is of one engine", engine, engine_);
    }
    const std::string drafter = drafter_of_row();
    drafter_ = drafter_.empty() ? drafter : drafter_;
    if (!drafter.empty() && drafter != drafter_) {
        return fmt::format("rows of {} beside those of {} were left out: a run is of one deployment", drafter, drafter_);
    }
    DeploymentWords words;
    for (std::size_t i = 0; i < columns_.size() && i < row_.size(); ++i) {
        const bool of_variant = i < names_.size() && tells_variant(plain_words(names_[i]));
        const bool labels =
            !of_variant && (columns_[i].role == Role::setup || (columns_[i].role == Role::none && !number_of(row_[i])));
        words.add(labels ? deployment_in(lower_case_of(row_[i])) : DeploymentWords());
    }
    words.device.clear();  // tell_variant()
    if (labelled_.contradicts(words)) {
        return fmt::format("rows of {} beside those of {} were left out: a run is of one deployment", words.text(),
                           labelled_.text());
    }
    labelled_.add(words);
    return {};
}

/// What the row says that it ran with: its back end, build, cache, device, and what lies on which of them.
std::string LoadTable::variant_of_row() const {
    std::string variant;
    const auto add = [&](const std::string& word) {
        if (!word.empty() && variant.find(word) == std::string::npos) {
            variant += (variant.empty() ? "" : ", ") + word;
        }
    };
    for (std::size_t i = 0; i < columns_.size() && i < names_.size() && i < row_.size(); ++i) {
        const std::string name = plain_words(names_[i]);
        const bool number = number_of(row_[i]).has_value();
        if (tells_variant(name)) {
            const bool usage = number && (says(name, "cache") || says(name, "kv"));  // not its format
            add(usage ? "" : number && unit_of(row_[i]).empty() ? names_[i] + " " + row_[i] : row_[i]);
        } else if (columns_[i].role == Role::setup || (columns_[i].role == Role::none && !number)) {
            add(back_end_in(plain_words(row_[i])));
            add(placement_in(plain_words(row_[i])));
            add(deployment_in(lower_case_of(row_[i])).device);
        }
    }
    return variant;
}

/// Rows of another back end, build, cache or device than the first are loads of their own, whose acceptance can be compared.
void LoadTable::tell_variant(RunBuilder& run) {
    const std::string variant = variant_of_row();
    variant_ = variant_.empty() ? variant : variant_;
    run.own_variant(variant_);
    other_variant_ = variant == variant_ ? "" : variant;
    if (!other_variant_.empty()) {
        run.remark(
            fmt::format("{}: rows of {} are kept apart from those of {}, as costs and acceptance are of one deployment; "
                        "treeline diagnose compares both",
                        run.file(), variant, variant_));
    }
}

/// In columns of SGLang's three settings, whose tokens count the root; no tokens where the row lacks one of them.
SglangDraft LoadTable::sglang_draft_of_row() const {
    const auto steps = number_of(cell(Role::drafts)), tokens = number_of(cell(Role::tree));
    for (std::size_t i = 0; steps && tokens && i < names_.size() && i < row_.size(); ++i) {
        if (is_of_trees(plain_words(names_[i]))) {
            return sglang_draft(steps, number_of(row_[i]), tokens);
        }
    }
    return {};
}

bool LoadTable::is_of_tree() const {
    for (std::size_t i = 0; i < names_.size() && i < row_.size(); ++i) {
        if (is_of_trees(plain_words(names_[i])) && number_of(row_[i]).value_or(1.0) > 1.0) {
            return true;
        }
    }
    return false;
}

}  // namespace treeline::runs::run_formats_of
