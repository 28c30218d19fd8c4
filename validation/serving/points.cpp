#include "validation/serving/points.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/traits.h"
#include "text/version.h"
#include "validation/serving/families.h"

namespace treeline::validation {
namespace {

/// A text that writes a version: "v0.19.0 (rocm)", "0.10.1/0.11.1", "mlx 0.31.1" of that engine; a date or a build
/// number is none.
text::Version stated_version(std::string text, const std::string& engine) {
    text.erase(0, text.starts_with(engine + " ") ? engine.size() + 1 : 0);
    text.erase(0, text.starts_with("v") ? 1 : 0);
    if (text.starts_with("0.1.dev")) {
        return {};  // of a checkout without tags (setuptools-scm)
    }
    text::Version version = text::version_in(text);
    return version.size() < 2 || version.front() > 1000 ? text::Version{} : version;
}

/// Whether a checkpoint of this model already is what the format says.
bool is_published_in(const sim::Model& model, const FormatEntry& format) {
    return model.precision.weights.format == format.storage.format || model.precision.experts.format == format.storage.format;
}

/// Takes the words of the cache's format out of a normalised text: "fp8" of "nvfp4-fp8-kv", "q8-0" of "q4-k-xl-q8-0-kv". Empty
/// where there are none.
std::string taken_cache(std::string& words) {
    const std::string padded = "-" + words + "-";
    const std::size_t end = padded.find("-kv-");
    if (end == std::string::npos) {
        return "";
    }
    std::size_t begin = padded.rfind('-', end - 1);
    if (end > 0 && padded.substr(begin, end - begin) == "-0" && begin > 0) {
        begin = padded.rfind('-', begin - 1);
    }
    const std::string cache = end == 0 ? "" : padded.substr(begin + 1, end - begin - 1);
    words = padded.substr(0, end == 0 ? 0 : begin) + "-" + padded.substr(end + 4);
    return cache;
}

/// A checkpoint of the model in this format. Of fp4, experts alone may be in it.
sim::Precision quantised(const sim::Model& published, const FormatEntry& format, bool fp4_in_experts_only) {
    const sim::NumberFormat stored = published.precision.activations.format;
    const sim::NumberFormat wide = sim::bits_of(stored) == 16.0 ? stored : sim::NumberFormat::bf16;
    if (sim::bits_of(format.storage.format) >= 16.0) {
        return sim::checkpoint_precision(format.storage.format, wide);
    }
    sim::Precision precision = sim::checkpoint_precision(wide, wide);
    precision.experts = format.storage;
    if (format.storage.format != sim::NumberFormat::fp4 || !fp4_in_experts_only) {
        precision.weights = format.storage;
    }
    if (format.embeddings) {
        precision.embeddings = *format.embeddings;
    }
    precision.math = format.math;
    precision.exceptions = format.exceptions;
    return precision;
}

/// What the engine does by itself; of stacks that are no engine's, the policy that is fastest at the point, as estimate_point()
/// chooses.
void choose_rollback(sim::RoundSetup& setup, const sim::DesignPoint& point) {
    const std::vector<sim::Rollback> rollbacks = sim::rollbacks_for(setup.target, setup.platform.stack);
    setup.rollback = rollbacks.empty() ? sim::Rollback::truncate : rollbacks.front();
    if (rollbacks.size() < 2 || point.speculation == 0 || !setup.platform.stack.engine.empty()) {
        return;
    }
    sim::Rollback best = setup.rollback;
    double most = 0.0;
    for (const sim::Rollback rollback : rollbacks) {
        setup.rollback = rollback;
        if (!problems_of(setup).empty()) {
            continue;
        }
        const sim::CompiledRound round = sim::compile_round(setup);
        const double gain = round.runs(point.speculation) ? sim::evaluate(round, point).throughput_multiplier : 0.0;
        if (gain > most) {
            most = gain;
            best = rollback;
        }
    }
    setup.rollback = best;
}

/// Further children share what the first one leaves, each half of the rest: the surer a drafter, the deeper its tree.
sim::RankAcceptance siblings_of(double first) {
    std::vector<double> by_rank = {first};
    double rest = 1.0 - first;
    for (int rank = 2; rank <= 8; ++rank) {
        rest *= 0.5;
        by_rank.push_back(rest);
    }
    return sim::RankAcceptance(std::move(by_rank));
}

}  // namespace

Mapped<std::string> model_named(const ServingParts& parts, const std::string& text) {
    const std::string stem = model_stem(text, parts.names);
    if (const NameEntry* entry = entry_for(parts.names.models, stem)) {
        return entry->name.empty() ? Mapped<std::string>(Unmapped{entry->reason, text}) : entry->name;
    }
    const auto known = parts.stems.find(stem);
    return known == parts.stems.end() ? Mapped<std::string>(Unmapped{"no description of the target model", text})
                                      : known->second;
}

Mapped<std::string> device_named(const ServingParts& parts, const std::string& text) {
    const std::string wanted = device_stem(text, parts.names);
    if (const NameEntry* entry = entry_for(parts.names.devices, wanted)) {
        return entry->name.empty() ? Mapped<std::string>(Unmapped{entry->reason, text}) : entry->name;
    }
    return parts.devices.contains(wanted) ? Mapped<std::string>(wanted)
                                          : Unmapped{"no description of the device", text.empty() ? "not stated" : text};
}

Mapped<std::string> stack_named(const ServingParts& parts, const std::string& engine, const std::string& version) {
    const EngineEntry* entry = engine_for(parts.names, engine);
    if (entry == nullptr || entry->names.name.empty()) {
        return Unmapped{entry == nullptr ? "no stack of the engine" : entry->names.reason,
                        engine.empty() ? "not stated" : engine};
    }
    const std::string& plain = entry->names.name;
    const text::Version wanted = stated_version(version, plain);
    if (wanted.empty()) {
        return plain;
    }
    std::vector<std::string> names;
    std::vector<text::Version> versions;
    for (const auto& [name, stack] : parts.stacks) {
        if (name.starts_with(plain + "-")) {
            names.push_back(name);
            versions.push_back(text::version_in(std::string_view(name).substr(plain.size() + 1)));
        }
    }
    const std::optional<std::size_t> nearest = text::nearest_version(versions, wanted);
    return nearest ? names[*nearest] : plain;
}

sim::Precision precision_named(const ServingParts& parts, const std::string& model, const std::string& text,
                               std::string_view engine) {
    const sim::Model& published = parts.models.at(model);
    std::string words = normalised(text);
    const FormatEntry* cache = format_in(parts.names, taken_cache(words));
    sim::Precision precision = published.precision;
    const FormatEntry* format = format_in(parts.names, words, engine);
    if (format != nullptr && !is_published_in(published, *format)) {
        const bool experts_only = fits_any(parts.names.fp4_experts_only, model) && sim::has_experts(published);
        precision = quantised(published, *format, experts_only);
    }
    if (cache != nullptr) {
        precision.kv_cache = cache->storage;
    }
    return precision;
}

namespace {

/// precision_named() on an engine, which may have a format of its own for the cache.
sim::Precision precision_on(const EngineEntry& engine, const ServingParts& parts, const std::string& model,
                            const std::string& text) {
    sim::Precision precision = precision_named(parts, model, text, engine.names.name);
    const sim::Precision& published = parts.models.at(model).precision;
    const bool other_checkpoint = precision.weights != published.weights || precision.experts != published.experts;
    if (engine.fp8_cache && other_checkpoint && sim::bits_of(precision.experts.format) <= 8.0) {
        precision.kv_cache = sim::Storage{sim::NumberFormat::fp8};
    }
    return precision;
}

/// Degrees as a file states them, read as data/serving's README says: tp (or attention_dp) n² with moe_tp n and moe_ep n ran on
/// n devices with the experts dealt out over them (upstream multiplied the two), and so did tp n with attention_dp n and moe_ep
/// n². Their times are those of tp n with moe_ep n under the same load, to the last digit of rows that are listed both ways:
/// no groups.
struct StatedCut {
    double tensor = 1.0, data = 1.0, expert_tensor = 1.0, experts = 1.0;
};

StatedCut read_as_documented(StatedCut cut) {
    const bool squared = cut.expert_tensor == cut.experts && cut.experts > 1.0;
    if (squared && cut.tensor == cut.experts * cut.experts && cut.data == 1.0) {
        return {cut.experts, 1.0, 1.0, cut.experts};
    }
    if (squared && cut.data == cut.experts * cut.experts && cut.tensor == 1.0) {
        return {1.0, cut.experts, 1.0, cut.experts};
    }
    if (cut.tensor == cut.data && cut.tensor > 1.0 && cut.experts == cut.tensor * cut.tensor) {
        return {cut.tensor, 1.0, 1.0, cut.tensor};
    }
    return cut;
}

/// As many ranks as the weights need, for a run that does not say.
double fewest_ranks(const ServingParts& parts, const std::string& model, const sim::Precision& precision,
                    const std::string& device) {
    constexpr double share_for_weights = 0.85;  // caches and workspace need the rest
    const Bytes weights = sim::stored_weights(parts.models.at(model), precision, 1.0);
    double ranks = 1.0;
    while (weights / ranks > parts.devices.at(device).memory * share_for_weights && ranks < 64.0) {
        ranks *= 2.0;
    }
    return ranks;
}

Mapped<DeviceCut> cut_of(const ServingParts& parts, const StatedParallelism& stated, const std::string& model,
                         const sim::Precision& precision, const std::string& device, bool splits_layers) {
    const auto above_one = [](const std::optional<double>& ranks) { return ranks && *ranks > 1.0; };
    const auto is_zero = [](const std::optional<double>& ranks) { return ranks && *ranks <= 0.0; };
    if (is_zero(stated.tensor) || is_zero(stated.attention_data) || is_zero(stated.expert_tensor) || is_zero(stated.expert)) {
        return Unmapped{"parallelism is not stated", "a zero"};
    }
    if (stated.devices == 0.0) {
        if (parts.devices.at(device).kind != sim::DeviceKind::cpu) {
            return Unmapped{"n_gpus is 0 beside a device that is no processor", device};
        }
        return DeviceCut{stated.tensor.value_or(1.0), {}};
    }
    if (splits_layers && above_one(stated.devices)) {
        return DeviceCut{1.0, {1.0, 1.0, *stated.devices}};
    }
    if (!stated.tensor && !stated.devices) {
        return DeviceCut{fewest_ranks(parts, model, precision, device), {}};
    }
    const double replicas = std::max(1.0, stated.data.value_or(1.0));  // each serves its share; one of them is priced
    const double tensor = stated.tensor.value_or(stated.devices.value_or(1.0) / replicas);
    const double data = stated.attention_data.value_or(1.0), experts = stated.expert.value_or(1.0);
    const StatedCut cut = read_as_documented({tensor, data, stated.expert_tensor.value_or(tensor * data / experts), experts});
    if (cut.tensor * cut.data != cut.expert_tensor * cut.experts) {
        return Unmapped{
            "parallelism of attention and experts disagrees",
            fmt::format("tp {}, dp {}, moe_tp {}, moe_ep {}", cut.tensor, cut.data, cut.expert_tensor, cut.experts)};
    }
    return DeviceCut{
        cut.tensor,
        {cut.data, cut.experts, stated.pipeline.value_or(1.0), stated.draft.value_or(0.0), stated.context.value_or(1.0)}};
}

/// Every cached token is read, as by engines without a kernel for sparse attention on a device.
void drop_indexers(sim::Model& model) {
    for (sim::LayerKind& kind : model.kinds) {
        for (sim::Block& block : kind.blocks) {
            if (auto* attention = std::get_if<sim::Attention>(&block.kind)) {
                attention->indexer.reset();
            } else if (auto* latent = std::get_if<sim::LatentAttention>(&block.kind)) {
                latent->indexer.reset();
            }
        }
    }
}

}  // namespace

std::optional<Unmapped> set_place(const StatedPlace& stated, const ServingParts& parts, MeasuredPoint& point) {
    const Mapped<std::string> model = model_named(parts, stated.model);
    const Mapped<std::string> device = device_named(parts, stated.device);
    const Mapped<std::string> stack = stack_named(parts, stated.engine, stated.engine_version);
    for (const Mapped<std::string>* name : {&model, &device, &stack}) {
        if (const auto* unmapped = std::get_if<Unmapped>(name)) {
            return *unmapped;
        }
    }
    point.model = std::get<std::string>(model);
    point.device = std::get<std::string>(device);
    point.stack = std::get<std::string>(stack);
    const EngineEntry& engine = *engine_for(parts.names, stated.engine);
    point.precision = precision_on(engine, parts, point.model, stated.format);
    const Mapped<DeviceCut> cut = cut_of(parts, stated.ranks, point.model, point.precision, point.device, engine.splits_layers);
    if (const auto* unmapped = std::get_if<Unmapped>(&cut)) {
        return *unmapped;
    }
    point.cut = std::get<DeviceCut>(cut);
    return std::nullopt;
}

double draft_depth(const MeasuredPoint& point) {
    if (!point.speculation) {
        return 0.0;
    }
    const auto* tree = std::get_if<sim::SglangShape>(&point.speculation->shape);
    return tree != nullptr ? tree->steps : std::get<sim::ChainShape>(point.speculation->shape).draft_tokens;
}

double draft_tokens_of(const MeasuredPoint& point) {
    const auto* tree = point.speculation ? std::get_if<sim::SglangShape>(&point.speculation->shape) : nullptr;
    return tree != nullptr ? tree->draft_tokens - 1.0 : draft_depth(point);
}

void set_accept_length(sim::RoundSetup& setup, const MeasuredPoint& point, double accept_length) {
    const auto with_fall = [&](double fall) { return sim::Acceptance::mean_length(accept_length, draft_depth(point), fall); };
    const bool looks_up = std::holds_alternative<sim::NgramDrafter>(setup.drafter);
    sim::DraftAcceptance acceptance(with_fall(looks_up ? sim::fall_of_lookups : sim::measured_fall));
    if (!std::holds_alternative<sim::ChainShape>(point.speculation->shape)) {
        acceptance.siblings = siblings_of(with_fall(0.0).position(1));
        acceptance.measured = {{sim::build_tree(point.speculation->shape, acceptance.siblings), accept_length}};
    } else if (auto* lookup = std::get_if<sim::NgramDrafter>(&setup.drafter)) {
        sim::count_misses(*lookup, acceptance.chain, static_cast<int>(draft_depth(point)));
    }
    setup.acceptance = std::move(acceptance);
}

sim::RoundSetup setup_of(const MeasuredPoint& point, const ServingParts& parts, sim::CostMode mode, double accept_length) {
    sim::RoundSetup setup;
    setup.target = parts.models.at(point.model);
    if (point.attends_to_all) {
        drop_indexers(setup.target);
    }
    setup.precision = point.precision;
    setup.platform.device = parts.devices.at(point.device);
    if (point.power_limit) {
        setup.platform.device = sim::under_power_limit(std::move(setup.platform.device), *point.power_limit);
    }
    setup.platform.device.host_speed = point.host_speed.value_or(setup.platform.device.host_speed);
    setup.platform.stack = parts.stacks.at(point.stack);
    if (!point.expert_kernels.empty()) {
        setup.platform.stack.picked.expert_kernels = parts.expert_kernels.at(point.expert_kernels);
    }
    if (!point.attention_kernels.empty()) {
        setup.platform.stack.picked.attention_kernels = parts.attention_kernels.at(point.attention_kernels);
    }
    for (sim::RowCurve& curve : setup.platform.stack.kernels.row_curves) {
        if (point.vector_rows && curve.few_rows_speed > 0.0) {
            curve.few_rows = *point.vector_rows;
        }
    }
    setup.platform.interconnect = point.interconnect;
    setup.platform.ranks = point.cut.tensor;
    setup.platform.parallel = point.cut.parallel;
    // As the product prices it: laws of kernels only where the stack was fitted with them.
    setup.platform.mode =
        mode == sim::CostMode::calibrated && !setup.platform.stack.kernels.calibrated ? sim::CostMode::roofline : mode;
    setup.drafter = point.drafter;
    setup.prompt_tokens = point.prompt_tokens;
    setup.prefix_hit = point.prefix_hit;
    setup.shared_prefix = point.shared_prefix;
    setup.expert_pool = point.expert_pool;
    setup.output_tokens = point.output_tokens;
    setup.speculations = sim::chains_up_to(0);
    if (point.speculation) {
        setup.speculations.push_back(*point.speculation);
        set_accept_length(setup, point, accept_length);
    }
    choose_rollback(setup, {static_cast<int>(setup.speculations.size()) - 1, point.batch, point.context});
    return setup;
}

void add_point(MeasuredPoint point, const ServingParts& parts, MeasuredPoints& result) {
    const sim::RoundSetup setup =
        setup_of(point, parts, sim::CostMode::roofline, point.accept_length.value_or(1.0 + 0.5 * draft_depth(point)));
    std::vector<std::string> problems = problems_of(setup);
    if (problems.empty() && point.speculation) {
        const sim::CompiledRound round = sim::compile_round(setup);
        if (!round.row(1).problem.empty()) {
            problems = {round.row(1).problem};
        }
    }
    if (!problems.empty()) {
        result.left_out.push_back({point.row, "cannot be priced", problems.front(), {}});
        return;
    }
    result.points.push_back(std::move(point));
}

}  // namespace treeline::validation
