#include "runs/own_file.h"

#include <nlohmann/json.hpp>

#include "json/reader.h"
#include "runs/builder.h"
#include "sim/input_limits.h"
#include "text/number_text.h"

namespace treeline::runs {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double most = 1e18;
constexpr double milliseconds = 1e3;
/// The mean of a load may lie below a request.
constexpr double least_batch = 1e-3;

OrderedJson mean_json(const MeasuredMean& mean, double scale) {
    OrderedJson json = {{"mean", text::rounded(mean.mean() * scale, 9)},
                        {"standard_error", text::rounded(mean.standard_error() * scale, 6)}};
    if (mean.is_counted()) {
        json["weight"] = mean.weight();
    }
    json["times"] = mean.times();
    return json;
}

void put_mean(OrderedJson& json, const char* key, const MeasuredMean& mean, double scale) {
    if (mean.known()) {
        json[key] = mean_json(mean, scale);
    }
}

OrderedJson rounded_list(const std::vector<double>& values) {
    OrderedJson list = OrderedJson::array();
    for (const double value : values) {
        list.push_back(text::rounded(value, 4));
    }
    return list;
}

OrderedJson acceptance_json(const AcceptanceCounts& counts) {
    OrderedJson json = {{"drafts", counts.drafts}, {"draft_tokens", counts.drafted}, {"accepted_tokens", counts.accepted}};
    if (!counts.reached.empty()) {
        json["accepted_by_position"] = counts.reached;
        json["drafts_with_positions"] = counts.drafts_with_positions;
    }
    if (counts.undrafted > 0.0) {
        json["rounds_without_draft"] = counts.undrafted;
        json["hit_rate"] = text::rounded(counts.hit_rate(), 4);
    }
    if (counts.derived) {
        json["derived"] = true;
    }
    json["blocks"] = {{"count", counts.blocks},
                      {"accepted_squares", counts.accepted_squares},
                      {"accepted_drafts", counts.accepted_drafts},
                      {"drafts_squares", counts.drafts_squares}};
    json["accept_length"] = text::rounded(counts.accept_length(), 6);
    json["accept_length_error"] = text::rounded(counts.accept_length_error(), 3);
    if (!counts.reached.empty()) {
        json["per_position"] = rounded_list(counts.rates());
        json["per_position_error"] = rounded_list(counts.position_errors());
    }
    return json;
}

void put_text(OrderedJson& json, const char* key, const std::string& text) {
    if (!text.empty()) {
        json[key] = text;
    }
}

void put_number(OrderedJson& json, const char* key, double number) {
    if (number > 0.0) {
        json[key] = number;
    }
}

OrderedJson settings_json(const RunSettings& settings) {
    OrderedJson json = OrderedJson::object();
    if (settings.graphs != GraphMode::unknown) {
        json["graphs"] = name_of(settings.graphs);
    }
    put_text(json, "graphs_because", settings.graphs_because);
    put_text(json, "cache_format", settings.cache_format);
    put_text(json, "attention", settings.attention);
    put_text(json, "weights", settings.weights);
    put_text(json, "scheduling", settings.scheduling);
    put_number(json, "data_parallel", settings.data_parallel);
    return json;
}

OrderedJson cell_json(const RunCell& cell) {
    OrderedJson json = OrderedJson::object();
    put_text(json, "variant", cell.variant);
    put_number(json, "batch", cell.batch);
    if (cell.concurrency) {
        json["concurrency"] = true;
    }
    json["draft_tokens"] = cell.draft_tokens;
    put_text(json, "shape", cell.shape);
    put_number(json, "context", cell.context);
    put_number(json, "prompt_tokens", cell.prompt_tokens);
    put_number(json, "output_tokens", cell.output_tokens);
    if (cell.acceptance.known()) {
        json["acceptance"] = acceptance_json(cell.acceptance);
    }
    put_number(json, "stated_length", cell.stated_length);
    put_mean(json, "round_ms", cell.round, milliseconds);
    put_mean(json, "tpot_ms", cell.tpot, milliseconds);
    put_mean(json, "ttft_ms", cell.ttft, milliseconds);
    put_mean(json, "drafting_ms", cell.drafting, milliseconds);
    put_mean(json, "tokens_per_s", cell.tokens_per_second, 1.0);
    put_number(json, "captured_steps", cell.captured_steps);
    put_number(json, "eager_steps", cell.eager_steps);
    return json;
}

MeasuredMean read_mean(json::Reader& at, const char* key, double scale) {
    std::optional<json::Reader> mean = at.optional_object(key);
    if (!mean) {
        return {};
    }
    const double value = mean->number("mean", 1e-9, most), error = mean->number_or("standard_error", 0.0, 0.0, most);
    const double weight = mean->number_or("weight", 0.0, 1e-9, most), times = mean->number_or("times", 1.0, 1.0, most);
    mean->finish();
    return MeasuredMean::of(value / scale, error / scale, weight, times);
}

RunSettings read_settings(json::Reader at) {
    RunSettings settings;
    const std::string graphs = at.text_or("graphs", "unknown");
    for (const GraphMode mode : values_of<GraphMode>()) {
        settings.graphs = name_of(mode) == graphs ? mode : settings.graphs;
    }
    if (settings.graphs == GraphMode::unknown && graphs != "unknown") {
        at.problem("graphs", "must be full, piecewise or none");
    }
    settings.graphs_because = at.text_or("graphs_because", "");
    settings.cache_format = at.text_or("cache_format", "");
    settings.attention = at.text_or("attention", "");
    settings.weights = at.text_or("weights", "");
    settings.scheduling = at.text_or("scheduling", "");
    settings.data_parallel = at.number_or("data_parallel", 0.0, 0.0, 1e6);
    at.finish();
    return settings;
}

AcceptanceCounts read_counts(json::Reader at) {
    AcceptanceCounts counts;
    counts.drafts = at.number("drafts", 0.0, most);
    counts.drafted = at.number("draft_tokens", 0.0, most);
    counts.accepted = at.number("accepted_tokens", 0.0, most);
    if (at.has("accepted_by_position")) {
        counts.reached = at.numbers("accepted_by_position", 0.0, most);
        counts.drafts_with_positions = at.number_or("drafts_with_positions", counts.drafts, 0.0, most);
    }
    counts.undrafted = at.number_or("rounds_without_draft", 0.0, 0.0, most);
    counts.derived = at.flag_or("derived", false);
    if (std::optional<json::Reader> blocks = at.optional_object("blocks")) {
        counts.blocks = blocks->number("count", 0.0, most);
        counts.accepted_squares = blocks->number("accepted_squares", 0.0, 1e36);
        counts.accepted_drafts = blocks->number("accepted_drafts", 0.0, 1e36);
        counts.drafts_squares = blocks->number("drafts_squares", 0.0, 1e36);
        blocks->finish();
    } else {
        counts = counts.as_block();
    }
    for (const char* follows : {"accept_length", "accept_length_error", "per_position", "per_position_error", "hit_rate"}) {
        static_cast<void>(at.has(follows));
    }
    at.finish();
    for (const std::string& end : counts.problems()) {
        at.problem({}, "counts " + end);
    }
    return counts;
}

RunCell read_cell(json::Reader& at) {
    RunCell cell;
    cell.variant = at.text_or("variant", "");
    cell.batch = at.number_or("batch", 0.0, least_batch, sim::largest_batch);
    cell.concurrency = at.flag_or("concurrency", false);
    cell.draft_tokens = static_cast<int>(at.count("draft_tokens", 0, sim::most_draft_tokens));
    if (at.has("shape")) {
        const std::string shape = at.text("shape");
        const std::optional<SglangDraft> tree = sglang_draft_of(shape);
        if (!tree || tree->draft_tokens() != cell.draft_tokens) {
            at.problem("shape", "must be a tree \"sglang:STEPS,TOPK,TOKENS\" of as many draft tokens and the root");
        } else {
            cell.shape = tree->shape();
            cell.depth = tree->steps;
        }
    }
    cell.context = at.number_or("context", 0.0, 0.0, sim::longest_context);
    cell.prompt_tokens = at.number_or("prompt_tokens", 0.0, 0.0, sim::longest_context);
    cell.output_tokens = at.number_or("output_tokens", 0.0, 0.0, sim::longest_context);
    if (std::optional<json::Reader> counts = at.optional_object("acceptance")) {
        cell.acceptance = read_counts(*counts);
    }
    cell.stated_length = at.number_or("stated_length", 0.0, 1.0, sim::most_draft_tokens + 1.0);
    cell.round = read_mean(at, "round_ms", milliseconds);
    cell.tpot = read_mean(at, "tpot_ms", milliseconds);
    cell.ttft = read_mean(at, "ttft_ms", milliseconds);
    cell.drafting = read_mean(at, "drafting_ms", milliseconds);
    cell.tokens_per_second = read_mean(at, "tokens_per_s", 1.0);
    cell.captured_steps = at.number_or("captured_steps", 0.0, 0.0, most);
    cell.eager_steps = at.number_or("eager_steps", 0.0, 0.0, most);
    at.finish();
    return cell;
}

MeasuredRun read_run(json::Document& document) {
    json::Reader root = document.root();
    MeasuredRun run;
    static_cast<void>(root.text("format"));
    root.count("version", run_version, run_version);
    RunIdentity& identity = run.identity;
    for (const auto& [key, text] : {std::pair{"engine", &identity.engine},
                                    {"engine_version", &identity.version},
                                    {"model", &identity.model},
                                    {"drafter", &identity.drafter},
                                    {"method", &identity.method},
                                    {"device", &identity.device}}) {
        *text = root.text_or(key, "");
    }
    identity.ranks = root.number_or("ranks", 0.0, 0.0, 1e6);
    static_cast<void>(root.text_or("title", ""));
    if (std::optional<json::Reader> settings = root.optional_object("settings")) {
        run.settings = read_settings(*settings);
    }
    if (root.has("sources")) {
        for (json::Reader& source : root.objects("sources")) {
            run.sources.push_back({source.text("file"), source.text_or("format", "")});
            source.finish();
        }
    }
    if (root.has("cells")) {
        for (json::Reader& cell : root.objects("cells")) {
            run.cells.push_back(read_cell(cell));
        }
    }
    if (root.has("elsewhere")) {
        for (json::Reader& cell : root.objects("elsewhere")) {
            run.elsewhere.push_back(read_cell(cell));
        }
    }
    if (root.has("passes")) {
        for (json::Reader& pass : root.objects("passes")) {
            run.passes.push_back(
                {pass.number("sequences", 1.0, sim::largest_batch), pass.number("tokens", 1.0, sim::longest_context),
                 pass.number_or("context", 0.0, 0.0, sim::longest_context), read_mean(pass, "ms", milliseconds)});
            pass.finish();
        }
    }
    if (root.has("remarks")) {
        run.remarks = root.texts("remarks");
    }
    root.finish();
    document.throw_if_problems();
    return run;
}

bool is_own(const RunJson& json) { return text_at(json, "format") == run_format; }

void read_own(const RunJson& json, RunBuilder& run) {
    json::Document document = json::Document::of(OrderedJson(json), run.file());
    MeasuredRun read = read_run(document);
    if (read.sources.empty()) {
        read.sources.push_back({run.file(), "a run of Treeline's own format"});
    }
    run.own_run(std::move(read));
}

}  // namespace

nlohmann::ordered_json run_json(const MeasuredRun& run) {
    OrderedJson json = {{"format", run_format}, {"version", run_version}};
    put_text(json, "engine", run.identity.engine);
    put_text(json, "engine_version", run.identity.version);
    put_text(json, "model", run.identity.model);
    put_text(json, "drafter", run.identity.drafter);
    put_text(json, "method", run.identity.method);
    put_text(json, "device", run.identity.device);
    put_number(json, "ranks", run.identity.ranks);
    if (OrderedJson settings = settings_json(run.settings); !settings.empty()) {
        json["settings"] = std::move(settings);
    }
    json["sources"] = OrderedJson::array();
    for (const RunSource& source : run.sources) {
        json["sources"].push_back({{"file", source.file}, {"format", source.format}});
    }
    for (const RunCell& cell : run.cells) {
        json["cells"].push_back(cell_json(cell));
    }
    for (const RunCell& cell : run.elsewhere) {
        json["elsewhere"].push_back(cell_json(cell));
    }
    for (const PassTime& pass : run.passes) {
        OrderedJson one = {{"sequences", pass.sequences}, {"tokens", pass.tokens}, {"context", pass.context}};
        put_mean(one, "ms", pass.seconds, milliseconds);
        json["passes"].push_back(std::move(one));
    }
    if (!run.remarks.empty()) {
        json["remarks"] = run.remarks;
    }
    return json;
}

namespace run_formats_of {
JsonFormat own_file() { return {"a run of Treeline's own format", is_own, read_own}; }
}  // namespace run_formats_of

}  // namespace treeline::runs
