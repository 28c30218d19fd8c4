#include "requests/loop/diagnosis_request.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/fit/served_point.h"
#include "requests/loop/import_request.h"
#include "requests/point_file.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

/// Loads with a batch and a time, as points.
class PointsOfRun {
public:
    PointsOfRun(const Json& point, const std::string& file, Descriptions& descriptions)
        : point_(point), file_(file), descriptions_(descriptions) {}

    DiagnosedPoint point(const RunCell& cell, DiagnosisInput& input) {
        try {
            const PointInput read = read_served(serving_row(cell), point_of_load(cell, point_), descriptions_);
            if (read.platform.accelerator) {
                throw InputError({"flags: platform.device: is an accelerator; runs of engines are diagnosed on GPUs and CPUs"});
            }
            input.target = read.target.label;
            input.platform = label_of(read.platform);
            if (read.drafter) {
                input.drafter = read.drafter->label;
            }
            const MeasuredStep step = measured_step(serving_row(cell), read);
            if (!(step.point.batch >= 1.0) || step.setup.speculations.empty() ||
                !compile_round(step.setup).runs(step.point.speculation)) {
                throw InputError({"flags: no rollback policy and way of verifying that the stack has can run this draft"});
            }
            return {cell, step.setup, step.point};
        } catch (const InputError& error) {
            std::vector<std::string> problems = in_terms_of_flags(error.problems(), point_flags());
            for (std::string& problem : problems) {
                problem = fmt::format("{}: batch {:g}, {} draft tokens: {}", file_, cell.batch, cell.draft_tokens, problem);
            }
            throw InputError(std::move(problems));
        }
    }

private:
    const Json& point_;
    const std::string& file_;
    Descriptions& descriptions_;
};

bool is_timed(const RunCell& cell) { return cell.batch >= 1.0 && cell.round_seconds() > 0.0; }

/// The acceptance of a load, or else of all loads with its draft length.
RunCell with_acceptance(RunCell cell, const MeasuredRun& run) {
    if (cell.draft_tokens > 0 && cell.accept_length() < 1.0) {
        const AcceptanceCounts counts = run.acceptance(cell.draft_tokens);
        cell.stated_length = counts.known() ? counts.accept_length() : 0.0;
        for (const RunCell& other : run.cells) {
            cell.stated_length =
                cell.stated_length < 1.0 && other.draft_tokens == cell.draft_tokens ? other.stated_length : cell.stated_length;
        }
    }
    return cell;
}

}  // namespace

const std::vector<KeyFlag>& served_flags() {
    static const std::vector<KeyFlag> flags =
        flags_at(point_flags(), {"target.model", "target.precision", "platform.device", "platform.tensor_parallel",
                                 "platform.gpus", "platform.expert_parallel", "platform.interconnect", "platform.stack",
                                 "platform.mode", "drafter", "context", "prompt_tokens", "output_tokens", "rollback"});
    return flags;
}

ServingRow serving_row(const RunCell& cell) {
    ServingRow row;
    row.batch = cell.batch;
    row.draft_tokens = cell.draft_tokens;
    if (cell.context > 0.0) {
        row.context = cell.context;
    }
    if (cell.draft_tokens > 0 && cell.accept_length() >= 1.0) {
        row.accept_length = cell.accept_length();
    }
    row.round = Seconds(cell.round_seconds());
    return row;
}

Json point_of_load(const RunCell& cell, Json point) {
    if (cell.round.known()) {
        point.erase("output_tokens");
    } else if (cell.output_tokens >= 1.0 && cell.prompt_tokens >= 1.0) {
        point["prompt_tokens"] = cell.prompt_tokens;
        point["output_tokens"] = cell.output_tokens;
    }
    return point;
}

DiagnosisInput read_diagnosis(const std::string& run, const std::string& plain, const std::string& input,
                              const FlagTexts& flags, const Catalogue& catalogue) {
    const Json point = point_json(input, flags);
    Descriptions descriptions(catalogue, {});
    const MeasuredRun speculative = import_runs({run});
    DiagnosisInput result;
    PointsOfRun of_run(point, run, descriptions);
    for (const RunCell& cell : speculative.cells) {
        if (const RunCell known = with_acceptance(cell, speculative); is_timed(known)) {
            auto& to = cell.draft_tokens > 0 ? result.rounds : plain.empty() ? result.plain : result.idle;
            to.push_back(of_run.point(known, result));
        }
    }
    if (!plain.empty()) {
        PointsOfRun of_plain(point, plain, descriptions);
        for (const RunCell& cell : import_runs({plain}).cells) {
            if (is_timed(cell) && cell.draft_tokens == 0) {
                result.plain.push_back(of_plain.point(cell, result));
            }
        }
        if (result.plain.empty()) {
            throw InputError({fmt::format("{}: holds no timed step of plain decoding at a known batch", plain)});
        }
    }
    if (std::vector<std::string> problems = problems_of(result); !problems.empty()) {
        throw InputError({fmt::format("{}: {}", run, problems.front())});
    }
    return result;
}

}  // namespace treeline
