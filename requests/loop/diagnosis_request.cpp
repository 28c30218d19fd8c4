#include "requests/loop/diagnosis_request.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hardware/other_engines.h"
#include "requests/fit/served_point.h"
#include "requests/keys/loop_keys.h"
#include "requests/keys/setup_keys.h"
#include "requests/loop/import_request.h"
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

private:
    const Json& point_;
    const std::string& file_;
    Descriptions& descriptions_;
};

bool is_timed(const runs::RunCell& cell) { return cell.batch >= 1.0 && cell.round_seconds() > 0.0; }

/// The acceptance of a load, or else of all loads with its draft length.
runs::RunCell with_acceptance(runs::RunCell cell, const runs::MeasuredRun& run) {
    if (cell.draft_tokens > 0 && cell.accept_length() < 1.0) {
        const runs::AcceptanceCounts counts = run.acceptance(cell.draft_tokens, cell.shape);
        cell.stated_length = counts.known() ? counts.accept_length() : 0.0;
        for (const runs::RunCell& other : run.cells) {
            const bool same = other.draft_tokens == cell.draft_tokens && other.shape == cell.shape;
            cell.stated_length = cell.stated_length < 1.0 && same ? other.stated_length : cell.stated_length;
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

Json point_of_run(const runs::MeasuredRun& run, Json point) {
    const auto any = [](const Json& object, std::initializer_list<const char*> keys) {
        return std::any_of(keys.begin(), keys.end(), [&](const char* key) { return object.contains(key); });
    };
    if (point.contains("platform") && point["platform"].is_object()) {
        Json& platform = point["platform"];
        const double ranks = run.identity.ranks;
        if (ranks > 1.0 && ranks == std::floor(ranks) &&
            !any(platform, {"tensor_parallel", "gpus", "expert_parallel", "pipeline_parallel", "attention_data_parallel"})) {
            platform["tensor_parallel"] = static_cast<long long>(ranks);
        }
        const auto& engines = platform_keys::engine_words;
        const std::string within(hardware::stack_within(run.identity.engine));  // ik_llama.cpp's is llama.cpp's
        const std::string& engine = within.empty() ? run.identity.engine : within;
        if (!any(platform, {"stack", "engine"}) && std::find(engines.begin(), engines.end(), engine) != engines.end()) {
            platform["engine"] = engine;
        }
    }
    if (run.settings.cache_format.starts_with("fp8") && point.contains("target")) {
        Json& target = point["target"];
        target = target.is_string() ? Json{{"model", target}} : target;
        Json precision = target.value("precision", Json::object());
        precision = precision.is_string() ? Json{{"checkpoint", precision}} : precision;
        if (precision.is_object() && !any(precision, {"kv_cache", "all"})) {
            precision["kv_cache"] = "fp8";
            target["precision"] = precision;
        }
    }
    return point;
}

namespace {

/// A run, and what messages call it.
struct NamedRun {
    std::string name;
    runs::MeasuredRun run;
};

sweeps::DiagnosisInput diagnosis_of(const NamedRun& of_drafter, const std::optional<NamedRun>& of_plain_steps,
                                    const Json& stated, Descriptions& descriptions) {
    const runs::MeasuredRun& speculative = of_drafter.run;
    const Json point = point_of_run(speculative, stated);
    sweeps::DiagnosisInput result;
    result.settings = speculative.settings;
    for (const runs::RunCell& cell : speculative.cells) {
        if (cell.draft_tokens > 0 && (cell.acceptance.known() || cell.stated_length >= 1.0)) {
            result.accepted.push_back(cell);
        }
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
        if (result.plain.empty()) {
            throw text::InputError(
                {fmt::format("{}: holds no timed step of plain decoding at a known batch", of_plain_steps->name)});
        }
    }
    if (std::vector<std::string> problems = problems_of(result); !problems.empty()) {
        throw text::InputError({fmt::format("{}: {}", of_drafter.name, problems.front())});
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
