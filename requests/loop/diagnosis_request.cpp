#include "requests/loop/diagnosis_request.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/fit/served_point.h"
#include "requests/keys/loop_keys.h"
#include "requests/loop/import_request.h"
#include "requests/loop/run_deployment.h"
#include "requests/point_file.h"

namespace treeline::requests {
namespace {

using Json = nlohmann::ordered_json;

/// Loads with a batch and a time, as points.
class PointsOfRun {
public:
    PointsOfRun(const Json& point, const std::string& file, Descriptions& descriptions)
        : point_(point), file_(file), descriptions_(descriptions) {}

    sweeps::DiagnosedPoint point(const runs::RunCell& cell, sweeps::DiagnosisInput& input) {
        try {
            const sweeps::PointInput read = read_served(serving_row(cell), point_of_load(cell, point_), descriptions_);
            if (read.platform.accelerator) {
                throw text::InputError(
                    {"flags: platform.device: is an accelerator; runs of engines are diagnosed on GPUs and CPUs"});
            }
            input.target = read.target.label;
            input.platform = sweeps::label_of(read.platform);
            if (read.drafter) {
                input.drafter = read.drafter->label;
            }
            const calibrate::MeasuredStep step = measured_step(serving_row(cell), read);
            if (!(step.point.batch >= 1.0) || step.setup.speculations.empty() ||
                !sim::compile_round(step.setup).runs(step.point.speculation)) {
                throw text::InputError(
                    {"flags: no rollback policy and way of verifying that the stack has can run this draft"});
            }
            return {cell, step.setup, step.point};
        } catch (const text::InputError& error) {
            std::vector<std::string> problems = in_terms_of_flags(error.problems(), point_flags());
            for (std::string& problem : problems) {
                problem = fmt::format("{}: batch {:g}, {}: {}", file_, cell.batch, cell.draft_text(), problem);
            }
            throw text::InputError(std::move(problems));
        }
    }

    /// Names the deployment where no load was timed, by a load whose batch and time do not matter.
    void name_deployment(runs::RunCell cell, sweeps::DiagnosisInput& input) {
        cell.batch = std::max(cell.batch, 1.0);
        cell.round.add(1.0);
        static_cast<void>(point(cell, input));
    }

private:
    const Json& point_;
    const std::string& file_;
    Descriptions& descriptions_;
};

bool is_timed(const runs::RunCell& cell) { return cell.batch >= 1.0 && cell.round_seconds() > 0.0; }

/// How far two loads are apart, in logarithms.
double distance_of(const runs::RunCell& a, const runs::RunCell& b) {
    return std::abs(std::log((a.context + 1.0) / (b.context + 1.0))) +
           std::abs(std::log(std::max(1.0, a.batch) / std::max(1.0, b.batch)));
}

/// The acceptance of a load, or else what all loads with its draft length counted, or what was stated at the nearest of them.
runs::RunCell with_acceptance(runs::RunCell cell, const runs::MeasuredRun& run) {
    if (cell.draft_tokens > 0 && cell.accept_length() < 1.0) {
        const runs::AcceptanceCounts counts = run.acceptance(cell.draft_tokens, cell.shape);
        cell.stated_length = counts.known() ? counts.accept_length() : 0.0;
        double nearest = std::numeric_limits<double>::infinity();
        for (const runs::RunCell& other : run.cells) {
            const bool same =
                other.draft_tokens == cell.draft_tokens && other.shape == cell.shape && other.stated_length >= 1.0;
            if (const double distance = distance_of(other, cell); !counts.known() && same && distance < nearest) {
                nearest = distance;
                cell.stated_length = other.stated_length;
            }
        }
    }
    return cell;
}

}  // namespace

const std::vector<KeyFlag>& served_flags() {
    static const std::vector<KeyFlag> flags = flags_at(
        point_flags(), {"target.model", "target.precision", "target.placement", "platform.host", "platform.device",
                        "platform.tensor_parallel", "platform.gpus", "platform.expert_parallel", "platform.interconnect",
                        "platform.stack", "platform.mode", "drafter", "context", "prompt_tokens", "output_tokens", "rollback"});
    return flags;
}

calibrate::ServingRow serving_row(const runs::RunCell& cell) {
    calibrate::ServingRow row;
    row.batch = cell.batch;
    row.draft_tokens = cell.draft_tokens;
    row.shape = cell.shape;
    row.depth = cell.depth;
    if (cell.context > 0.0) {
        row.context = std::round(cell.context);  // a mean over requests; contexts of points are whole
    }
    if (cell.draft_tokens > 0 && cell.accept_length() >= 1.0) {
        row.accept_length = cell.accept_length();
        row.hit_rate = std::max(1e-6, cell.acceptance.hit_rate());
    }
    row.round = Seconds(cell.round_seconds());
    return row;
}

Json point_of_load(const runs::RunCell& cell, Json point) {
    if (cell.round_is_decoding()) {
        point.erase("output_tokens");
    } else if (cell.output_tokens >= 1.0 && cell.prompt_tokens >= 1.0) {
        point["prompt_tokens"] = std::round(cell.prompt_tokens);  // means over requests; lengths of points are whole
        point["output_tokens"] = std::round(cell.output_tokens);
    }
    return point;
}

namespace {

/// A run, and what messages call it.
struct NamedRun {
    std::string name;
    runs::MeasuredRun run;
};

void add_accepted(const std::vector<runs::RunCell>& cells, const std::string& name, std::vector<runs::RunCell>& accepted) {
    for (runs::RunCell cell : cells) {
        if (cell.draft_tokens > 0 && cell.accept_length() >= 1.0) {
            cell.variant = cell.variant.empty() ? name : cell.variant;
            accepted.push_back(std::move(cell));
        }
    }
}

bool times_plain_steps(const runs::MeasuredRun& run) {
    return std::any_of(run.cells.begin(), run.cells.end(),
                       [](const runs::RunCell& cell) { return is_timed(cell) && cell.draft_tokens == 0; });
}

/// Without a model that is asked for, that of the files must be known.
void refuse_unknown_model(const NamedRun& run, const Json& point) {
    if (!point.contains("target") && !run.run.identity.model.empty()) {
        throw text::InputError(
            {fmt::format("{}: calls its model {}, which the catalogue does not know; --model says which it is", run.name,
                         run.run.identity.model)});
    }
}

/// What drafts must be known before a round is priced; how much was accepted is the run's.
void refuse_unknown_drafter(const NamedRun& run, const Json& point) {
    const bool drafts = std::any_of(run.run.cells.begin(), run.run.cells.end(),
                                    [](const runs::RunCell& cell) { return cell.draft_tokens > 0; });
    if (drafts && !point.contains("drafter")) {
        throw text::InputError(
            {fmt::format("{}: drafts, but does not say with what; --drafter says it (mtp, eagle3, ngram, ...), and what was "
                         "accepted is taken from the run",
                         run.name)});
    }
}

/// `other` is the deployment without a drafter, or another one with it whose acceptance is compared, or both.
sweeps::DiagnosisInput diagnosis_of(const NamedRun& of_drafter, const std::optional<NamedRun>& other, const Json& stated,
                                    Descriptions& descriptions) {
    const runs::MeasuredRun& speculative = of_drafter.run;
    PointOfRun filled = point_of_run(speculative, stated, descriptions.catalogue());
    refuse_unknown_model(of_drafter, filled.point);
    refuse_unknown_drafter(of_drafter, filled.point);
    const Json point = std::move(filled.point);
    sweeps::DiagnosisInput result;
    result.remarks = std::move(filled.remarks);
    result.looks_up = filled.looks_up;
    result.settings = speculative.settings;
    add_accepted(speculative.cells, of_drafter.name, result.accepted);
    add_accepted(speculative.elsewhere, of_drafter.name, result.elsewhere);
    if (other) {
        add_accepted(other->run.cells, other->name, result.elsewhere);
        add_accepted(other->run.elsewhere, other->name, result.elsewhere);
    }
    const std::optional<NamedRun> of_plain_steps = other && times_plain_steps(other->run) ? other : std::nullopt;
    if (other && !of_plain_steps && result.elsewhere.empty()) {
        throw text::InputError({fmt::format(
            "{}: holds neither a timed step of plain decoding at a known batch nor acceptance to compare with", other->name)});
    }
    PointsOfRun of_run(point, of_drafter.name, descriptions);
    for (const runs::RunCell& cell : speculative.cells) {
        if (const runs::RunCell known = with_acceptance(cell, speculative); is_timed(known)) {
            auto& to = cell.draft_tokens > 0 ? result.rounds : !of_plain_steps ? result.plain : result.idle;
            to.push_back(of_run.point(known, result));
        }
    }
    if (of_plain_steps) {
        PointsOfRun of_plain(point, of_plain_steps->name, descriptions);
        for (const runs::RunCell& cell : of_plain_steps->run.cells) {
            if (is_timed(cell) && cell.draft_tokens == 0) {
                result.plain.push_back(of_plain.point(cell, result));
            }
        }
    }
    if (std::vector<std::string> problems = problems_of(result); !problems.empty()) {
        throw text::InputError({fmt::format("{}: {}", of_drafter.name, problems.front())});
    }
    if (result.target.empty() && !result.accepted.empty()) {
        of_run.name_deployment(result.accepted.front(), result);
    }
    return result;
}

NamedRun read_run(const std::string& file) { return {file, runs::import_runs({file})}; }

/// A run as `treeline import` writes it, or the text of a file that it reads.
NamedRun run_of(const json::Reader& at, std::string_view key) {
    const Json& raw = at.raw().at(std::string(key));
    const std::string text = raw.is_string() ? raw.get<std::string>() : raw.dump();
    return {at.place(key), runs::import_run_text(text, at.place(key))};
}

}  // namespace

sweeps::DiagnosisInput read_diagnosis(const std::string& run, const std::string& plain, const std::string& input,
                                      const FlagTexts& flags, const Catalogue& catalogue) {
    const Json point = point_json(input, flags);
    Descriptions descriptions(catalogue, {});
    return diagnosis_of(read_run(run), plain.empty() ? std::nullopt : std::optional(read_run(plain)), point, descriptions);
}

sweeps::DiagnosisInput read_diagnosis(json::Document& document, Descriptions& descriptions) {
    json::Reader root = document.root();
    const bool has_plain = root.has(diagnosis_keys::plain);
    if (!root.has(diagnosis_keys::run)) {
        root.problem(diagnosis_keys::run, "is missing");
    }
    static_cast<void>(root.object(diagnosis_keys::point));
    root.finish();
    document.throw_if_problems();
    const std::optional<NamedRun> plain = has_plain ? std::optional(run_of(root, diagnosis_keys::plain)) : std::nullopt;
    return diagnosis_of(run_of(root, diagnosis_keys::run), plain, root.raw().at(std::string(diagnosis_keys::point)),
                        descriptions);
}

}  // namespace treeline::requests
