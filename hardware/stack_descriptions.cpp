// From JSON to a Stack: which keys there are, which may be left out, and what that means.
#include <algorithm>
#include <optional>

#include "hardware/catalogue.h"
#include "json/wording.h"
#include "sim/platform.h"
#include "sim/stack_parameters.h"
#include "sim/traits.h"

namespace treeline::hardware {
namespace {

using json::Reader;

/// A list of policies by name, empty without the key.
template <NamedEnum Policy>
std::vector<Policy> read_policies(Reader& reader, const char* key) {
    const std::vector<std::string> names = names_of<Policy>();
    std::vector<Policy> policies;
    if (!reader.has(key)) {
        return policies;
    }
    for (const std::string& name : reader.texts(key)) {
        if (const auto policy = value_named<Policy>(name)) {
            policies.push_back(*policy);
        } else {
            reader.problem(key, "must hold " + text::listed(names, "or") + ", not \"" + json::shown_key(name) + "\"" +
                                    text::did_you_mean(name, names));
        }
    }
    return policies;
}

/// {"fp8": {"memory": ratio, "compute": ratio}, ...}; formats that are left out keep 1.
sim::LinearSpeeds read_linear_speeds(Reader reader) {
    sim::LinearSpeeds speeds{};
    for (std::size_t i = 0; i < sim::all_number_formats.size(); ++i) {
        if (auto at = reader.optional_object(name_of(sim::all_number_formats[i]))) {
            speeds[i] = {at->ratio("memory", 0.1, 10.0), at->ratio("compute", 0.1, 10.0)};
            at->finish();
        }
    }
    reader.finish();
    return speeds;
}

/// Its numbers have sources of their own.
sim::RowCurve read_row_curve(Reader& reader) {
    sim::RowCurve curve;
    curve.of = reader.choice<sim::CurveProducts>("of");
    curve.weights = reader.choice_or("weights", sim::CurveWeights::any);
    curve.devices = reader.choice_or("devices", sim::CurveDevices::all);
    curve.hides = reader.flag_or("hides", false);
    const auto read = [&](const char* key, double low, double high, double& value) {
        if (reader.has(key)) {
            value = reader.ratio(key, low, high);
        }
    };
    read("least_generation", 1.0, 100.0, curve.least_generation);
    read("least_unpacking", 0.1, 1000.0, curve.least_unpacking);
    read("few_rows", 1.0, 1024.0, curve.few_rows);
    read("few_rows_speed", 0.01, 1000.0, curve.few_rows_speed);
    read("reads_per_row", 0.01, 1.0, curve.reads_per_row);
    read("tile", 1.0, 1024.0, curve.tile);
    read("matrix_tile", 1.0, 1024.0, curve.matrix_tile);
    read("speed", 0.01, 1000.0, curve.speed);
    reader.finish();
    return curve;
}

/// {"norm": factor, ...}: launches for each kernel of an operation, by its name; with "devices": "metal" beside its value,
/// there alone.
std::vector<sim::OperationLaunches> read_launch_factors(Reader reader) {
    std::vector<sim::OperationLaunches> factors;
    for (const std::string& name : reader.keys()) {
        auto devices = sim::CurveDevices::all;
        const double factor = reader.ratio(
            name, 0.01, 1000.0, [&](Reader& number) { devices = number.choice_or("devices", sim::CurveDevices::all); });
        factors.push_back({name, factor, devices == sim::CurveDevices::metal});
    }
    reader.finish();
    return factors;
}

/// {"ring": "--some-flag", ...}: with what an engine is told to roll back in another way than by itself.
std::map<sim::Rollback, std::string> read_rollback_flags(Reader reader) {
    std::map<sim::Rollback, std::string> flags;
    for (const sim::Rollback rollback : sim::all_rollbacks) {
        if (reader.has(name_of(rollback))) {
            flags[rollback] = reader.text(name_of(rollback));
        }
    }
    reader.finish();
    return flags;
}

/// Of the kernels of a rule, the name alone: load_stack() looks them up.
std::vector<sim::VerificationRule> read_verification_rules(Reader& stack) {
    std::vector<sim::VerificationRule> rules;
    for (Reader& reader : stack.objects("verification_rules")) {
        sim::VerificationRule rule;
        rule.backend = reader.text("backend");
        if (reader.has("generations")) {
            rule.generations = reader.numbers("generations", 1.0, 99.0);
        }
        rule.caches = read_policies<sim::NumberFormat>(reader, "caches");
        rule.weights = read_policies<sim::NumberFormat>(reader, "weights");
        rule.kernels.name = reader.text_or("kernels", "");
        rule.in_pieces = reader.flag_or("in_pieces", false);
        rule.because = reader.text("because");
        rule.otherwise = reader.text_or("otherwise", "");
        static_cast<void>(reader.text("source"));
        reader.finish();
        rules.push_back(std::move(rule));
    }
    return rules;
}

std::vector<sim::MemoryReserve> read_memory_reserves(Reader& stack) {
    std::vector<sim::MemoryReserve> reserves;
    for (Reader& reader : stack.objects("memory_reserves")) {
        sim::MemoryReserve reserve;
        reserve.below = reader.has("below") ? reader.bytes("below") : Bytes(std::numeric_limits<double>::infinity());
        reserve.base = reader.bytes("base", json::Zero::allowed);
        reserve.per_rank = reader.has("per_rank") ? reader.bytes("per_rank", json::Zero::allowed) : Bytes(0.0);
        reserve.with_drafter = reader.has("with_drafter") ? reader.bytes("with_drafter", json::Zero::allowed) : Bytes(0.0);
        reserve.with_own_model =
            reader.has("with_own_model") ? reader.bytes("with_own_model", json::Zero::allowed) : reserve.with_drafter;
        reader.finish();
        reserves.push_back(reserve);
    }
    return reserves;
}

/// [{"weights": "int8", "multiplied": true, "least_capability": number}, {"caches": "fp4", ...}, ...]
std::vector<sim::FormatNeed> read_format_needs(Reader& stack) {
    std::vector<sim::FormatNeed> needs;
    for (Reader& reader : stack.objects("format_needs")) {
        sim::FormatNeed need;
        need.of_caches = reader.has("caches");
        need.format = reader.choice<sim::NumberFormat>(need.of_caches ? "caches" : "weights");
        need.group_size = reader.number_or("group_size", 0.0, 0.0, 1e6);
        need.multiplied = reader.flag_or("multiplied", false);
        need.least_capability = reader.ratio("least_capability", 0.0, 99.0);
        reader.finish();
        needs.push_back(need);
    }
    return needs;
}

std::vector<sim::PromptChunk> read_prompt_chunks(Reader& number) {
    std::vector<sim::PromptChunk> chunks;
    for (Reader& reader : number.objects("on_devices")) {
        sim::PromptChunk chunk;
        chunk.below = reader.has("below") ? reader.bytes("below") : Bytes(std::numeric_limits<double>::infinity());
        chunk.named = reader.text_or("named", "");
        chunk.tokens = reader.ratio("tokens", 1.0, 1e9);
        reader.finish();
        chunks.push_back(std::move(chunk));
    }
    return chunks;
}

std::vector<std::vector<sim::CutDegree>> read_cuts_not_run(Reader& stack) {
    std::vector<std::vector<sim::CutDegree>> cuts;
    for (Reader& reader : stack.objects("cuts_not_run")) {
        cuts.push_back(read_policies<sim::CutDegree>(reader, "degrees"));
        if (cuts.back().empty()) {
            reader.problem("degrees", "must name at least one degree of parallelism");
        }
        static_cast<void>(reader.text("source"));
        reader.finish();
    }
    return cuts;
}

sim::MeasuredLoads read_measured_loads(Reader reader) {
    sim::MeasuredLoads measured;
    measured.target = reader.text("target");
    measured.weights = reader.text("weights");
    measured.device = reader.text("device");
    measured.devices = reader.number("devices", 1.0, 1e6);
    measured.mode = reader.choice("mode", names_of<sim::CostMode>());
    measured.drafter = reader.text_or("drafter", "");
    measured.reach = reader.number_or("reach", 1.0, 0.01, 10.0);
    measured.memory = reader.number_or("memory", 1.0, 1.0, sim::most_measured_memory);
    static_cast<void>(reader.text("source"));
    for (Reader& load : reader.objects("loads")) {
        measured.loads.push_back({load.number("batch", 1.0, 1e6), load.number_or("context", 0.0, 0.0, 1e9),
                                  load.number_or("draft_tokens", 0.0, 0.0, 4096.0),
                                  Seconds(1e-3 * load.number("measured_ms", 0.0, 1e9)), load.number("ratio", 0.01, 100.0)});
        load.finish();
    }
    reader.finish();
    return measured;
}

sim::CalibratedNumbers read_calibrated_numbers(Reader reader) {
    sim::CalibratedNumbers numbers;
    numbers.kernel_startup = reader.seconds("kernel_startup", json::Zero::allowed);
    numbers.launch_factor = reader.ratio("launch_factor", 0.01, 1000.0);
    if (reader.has("linear_speed")) {
        numbers.linear_speed = read_linear_speeds(reader.object("linear_speed"));
    }
    if (reader.has("expert_speed")) {
        numbers.expert_speed = reader.ratio("expert_speed", 0.1, 10.0);
    }
    reader.finish();
    return numbers;
}

/// {"models": ["mixture"], "not_on": [10], "experts": "quantised or shared"}
sim::NumberCondition read_condition(Reader reader, std::string_view number) {
    sim::NumberCondition condition{std::string(number), {}, {}};
    if (reader.has("models")) {
        const std::vector<std::string> kinds(sim::kinds_of_models.begin(), sim::kinds_of_models.end());
        for (const std::string& kind : reader.texts("models")) {
            if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
                reader.problem("models", "holds \"" + kind + "\", but kinds of models are " + text::listed(kinds, "and"));
            }
            condition.models.push_back(kind);
        }
    }
    if (reader.has("not_on")) {
        condition.not_on = reader.numbers("not_on", 0.0, 99.0);
    }
    if (reader.has("experts")) {
        condition.experts = reader.choice<sim::ConditionExperts>("experts");
    }
    reader.finish();
    return condition;
}

/// A number of a stack, or what holds without it.
void read_parameter(Reader& reader, const sim::StackParameter& parameter, sim::Stack& stack) {
    if (!reader.has(parameter.name) && !parameter.is_required()) {
        if (!parameter.as.empty()) {
            parameter.set(stack, sim::stack_parameter(parameter.as).get(stack));
        }
        return;
    }
    const json::Reader::Further where = [&](Reader& number) {
        if (parameter.may_be_missing() && number.has("where")) {
            stack.conditions.push_back(read_condition(number.object("where"), parameter.name));
        }
    };
    switch (parameter.unit) {
        case sim::StackUnit::seconds:
            return parameter.set(stack, reader.seconds(parameter.name, json::Zero::allowed, where).value());
        case sim::StackUnit::bytes:
            return parameter.set(stack, reader.bytes(parameter.name, json::Zero::allowed, where).value());
        case sim::StackUnit::ratio:
            return parameter.set(stack, reader.ratio(parameter.name, parameter.low, parameter.high, where));
    }
}

}  // namespace

sim::Stack read_stack(Reader& reader, std::string name) {
    sim::Stack stack;
    stack.name = std::move(name);
    stack.title = reader.text("title");
    stack.engine = reader.text_or("engine", "");
    for (const sim::StackParameter& parameter : sim::stack_parameters()) {
        read_parameter(reader, parameter, stack);
    }
    stack.states.state_pool_flag = reader.text_or("state_pool_flag", "");
    stack.drafts.sampling_flag = reader.text_or("sampling_flag", "");
    stack.picked.delta_rule_kernels = reader.text_or("delta_rule_kernels", "");
    stack.launching.draft_graphs = reader.flag_or("draft_graphs", false);
    if (reader.has("row_curves")) {
        for (Reader& curve : reader.objects("row_curves")) {
            stack.kernels.row_curves.push_back(read_row_curve(curve));
        }
    }
    if (reader.has("launch_factors")) {
        stack.launching.launch_factors = read_launch_factors(reader.object("launch_factors"));
    }
    stack.states.replays_rejected = reader.flag_or("replays_rejected", false);
    stack.states.snapshots_hold_live_state = reader.flag_or("snapshots_hold_live_state", false);
    stack.caches.divides_kv_heads = reader.flag_or("divides_kv_heads", false);
    stack.caches.takes_latent_tokens_apart = reader.flag_or("takes_latent_tokens_apart", false);
    stack.drafts.drafter_reads_round = reader.flag_or("drafter_reads_round", false);
    stack.caches.concatenates_caches = reader.flag_or("concatenates_caches", false);
    stack.caches.expands_caches = reader.flag_or("expands_caches", false);
    stack.scales_with_host = reader.flag_or("scales_with_host", false);
    stack.kernels.fused_quantisation = reader.flag_or("fused_quantisation", false);
    stack.kernels.fits_quantised_tiles = reader.flag_or("fits_quantised_tiles", false);
    if (reader.has("linear_speed")) {
        stack.kernels.linear_speed = read_linear_speeds(reader.object("linear_speed"));
    }
    if (reader.has("calibrated")) {
        stack.kernels.calibrated = read_calibrated_numbers(reader.object("calibrated"));
    }
    if (reader.has("measured_loads")) {
        stack.measured.measured_loads = read_measured_loads(reader.object("measured_loads"));
    }
    stack.serving.prefill = reader.choice_or("prefill", sim::PrefillPolicy::mixed);
    if (reader.has("prefill_tokens")) {
        stack.serving.prefill_tokens = reader.ratio("prefill_tokens", 1.0, 1e9, [&](Reader& number) {
            if (number.has("on_devices")) {
                stack.serving.prompt_chunks = read_prompt_chunks(number);
            }
        });
    }
    if (reader.flag_or("whole_prompts", false)) {
        stack.serving.prefill_tokens = std::numeric_limits<double>::infinity();
    }
    stack.memory.memory_share_of = reader.choice_or("memory_share_of", sim::MemoryShare::device);
    if (reader.has("memory_reserves")) {
        stack.memory.memory_reserves = read_memory_reserves(reader);
    }
    stack.serving.logits_of_prompt = reader.flag_or("logits_of_prompt", false);
    stack.launching.state_copy =
        reader.choice("state_copy", {"eager", "in-graph"}) == "eager" ? sim::StateCopy::eager : sim::StateCopy::in_graph;
    if (reader.has("collectives")) {
        stack.kernels.collectives = reader.choice("collectives", {"nccl", "vllm", "sglang", "trtllm"});
    }
    stack.kernels.runs_treeline_kernels = reader.flag_or("treeline_kernels", false);
    stack.drafts.verifications = read_policies<sim::Verification>(reader, "verification");
    stack.states.rollbacks = read_policies<sim::Rollback>(reader, "rollback");
    stack.drafts.synchronous_drafters = read_policies<sim::ScheduledDrafter>(reader, "synchronous_drafters");
    if (auto flags = reader.optional_object("rollback_flags")) {
        stack.states.rollback_flags = read_rollback_flags(*flags);
    }
    if (reader.has("format_needs")) {
        stack.kernels.format_needs = read_format_needs(reader);
    }
    if (reader.has("cuts_not_run")) {
        stack.drafts.cuts_not_run = read_cuts_not_run(reader);
    }
    if (reader.has("verification_rules")) {
        stack.picked.verification_rules = read_verification_rules(reader);
    }
    static_cast<void>(reader.text("policies_source"));
    static_cast<void>(reader.text_or("prefill_source", ""));
    reader.finish();
    return stack;
}

}  // namespace treeline::hardware
