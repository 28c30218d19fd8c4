#include "requests/validate/name_table_reader.h"

#include <nlohmann/json.hpp>

#include "json/reader.h"
#include "sim/input_limits.h"

namespace treeline::requests {
namespace {

constexpr double longest_text = 1e7;  // tokens

/// Sources are for people who read the file.
void finish_entry(json::Reader& at) {
    static_cast<void>(at.text_or("source", ""));
    at.finish();
}

validation::NameEntry read_entry(json::Reader& at) {
    validation::NameEntry entry;
    // An empty pattern stands for an empty text.
    for (const auto& pattern : at.raw().at("match")) {
        entry.patterns.push_back(pattern.get<std::string>());
    }
    static_cast<void>(at.has("match"));
    entry.name = at.text_or("name", "");
    entry.reason = at.text_or("reason", "");
    entry.adaptive = at.flag_or("adaptive", false);
    if (entry.name.empty() == entry.reason.empty()) {
        at.problem({}, "needs either a name or the reason why there is none");
    }
    return entry;
}

/// Entries whose "match" is a list of texts; others are problems.
std::vector<json::Reader> entries_of(json::Reader& at, std::string_view key) {
    std::vector<json::Reader> entries = at.objects(key);
    std::erase_if(entries, [](json::Reader& entry) {
        const auto& raw = entry.raw();
        const bool listed = raw.contains("match") && raw.at("match").is_array() && !raw.at("match").empty();
        bool texts = listed;
        for (std::size_t i = 0; listed && i < raw.at("match").size(); ++i) {
            texts = texts && raw.at("match")[i].is_string();
        }
        if (!texts) {
            entry.problem("match", "must be a list of texts");
        }
        return !texts;
    });
    return entries;
}

std::vector<validation::NameEntry> read_entries(json::Reader& at, std::string_view key) {
    std::vector<validation::NameEntry> result;
    for (json::Reader& entry : entries_of(at, key)) {
        result.push_back(read_entry(entry));
        finish_entry(entry);
    }
    return result;
}

void read_models(json::Reader at, validation::NameTable& table) {
    table.ignored_words = at.texts("ignored_words");
    table.ignored_prefixes = at.texts("ignored_prefixes");
    table.models = read_entries(at, "entries");
    at.finish();
}

std::vector<validation::VersionEntry> read_versions(json::Reader& engine) {
    std::vector<validation::VersionEntry> versions;
    if (engine.has("versions")) {
        for (json::Reader& at : entries_of(engine, "versions")) {
            validation::VersionEntry entry;
            for (const auto& pattern : at.raw().at("match")) {
                entry.patterns.push_back(pattern.get<std::string>());
            }
            static_cast<void>(at.has("match"));
            entry.version = at.text("version");
            versions.push_back(std::move(entry));
            finish_entry(at);
        }
    }
    return versions;
}

void read_engines(json::Reader& root, validation::NameTable& table) {
    for (json::Reader& entry : entries_of(root, "engines")) {
        table.engines.push_back({read_entry(entry), read_versions(entry), entry.flag_or("splits_layers", false),
                                 entry.flag_or("own_stack", true), entry.flag_or("fp8_cache", false)});
        finish_entry(entry);
    }
}

sim::Storage read_storage_of(json::Reader& at) {
    sim::Storage storage{at.choice<sim::NumberFormat>("format")};
    storage.group_size = at.number_or("group_size", 0.0, 0.0, 1e9);
    storage.scale_bits = at.number_or("scale_bits", 16.0, 1.0, 32.0);
    storage.bits = at.number_or("bits", 0.0, 0.0, 16.0);  // of an element where its format is wider
    return storage;
}

void read_formats(json::Reader& root, validation::NameTable& table) {
    for (json::Reader& at : entries_of(root, "formats")) {
        validation::FormatEntry entry;
        entry.patterns = at.texts("match");
        entry.storage = read_storage_of(at);
        entry.math = at.choice<sim::NumberFormat>("math");
        if (at.has("engines")) {
            entry.engines = at.texts("engines");
        }
        if (std::optional<json::Reader> embeddings = at.optional_object("embeddings")) {
            entry.embeddings = read_storage_of(*embeddings);
            embeddings->finish();
        }
        if (at.has("exceptions")) {
            for (auto& [operation, exception] : at.members("exceptions")) {
                const sim::Storage storage = read_storage_of(exception);
                entry.exceptions.push_back({operation, storage, exception.choice<sim::NumberFormat>("math")});
                exception.finish();
            }
        }
        table.formats.push_back(std::move(entry));
        finish_entry(at);
    }
}

void read_datasets(json::Reader& root, validation::NameTable& table) {
    for (json::Reader& at : entries_of(root, "datasets")) {
        validation::DatasetEntry entry;
        entry.patterns = at.texts("match");
        entry.prompt_tokens = at.number("prompt_tokens", 0.0, longest_text);
        entry.output_tokens = at.number("output_tokens", 1.0, longest_text);
        entry.decoding_only = at.flag_or("decoding_only", false);
        static_cast<void>(at.text("kind"));
        table.datasets.push_back(std::move(entry));
        finish_entry(at);
    }
}

validation::RunPattern read_runs(json::Reader& at) {
    return {at.text_or("engine", ""), at.text_or("engine_version", ""), at.text_or("model", ""),
            at.text_or("device", ""), at.text_or("format", ""),         at.text_or("cut", "")};
}

void read_exclusions(json::Reader& root, validation::NameTable& table) {
    for (json::Reader& at : root.objects("exclusions")) {
        table.exclusions.push_back({read_runs(at), at.text("reason")});
        finish_entry(at);
    }
}

std::vector<std::string> texts_or_none(json::Reader& at, std::string_view key) {
    return at.has(key) ? at.texts(key) : std::vector<std::string>{};
}

void read_conditions(json::Reader& root, validation::NameTable& table) {
    constexpr double most_drafts = 256.0;
    for (json::Reader& at : root.objects("conditions")) {
        validation::ConditionEntry entry;
        entry.series = texts_or_none(at, "series");
        entry.engines = texts_or_none(at, "engine");
        entry.engine_versions = texts_or_none(at, "version");
        entry.models = texts_or_none(at, "model");
        entry.drafters = texts_or_none(at, "drafter");
        entry.drafter_models = texts_or_none(at, "drafter_model");
        entry.formats = texts_or_none(at, "format");
        if (std::optional<json::Reader> set = at.optional_object("set")) {
            const auto number = [&](const char* key, double high) {
                return set->has(key) ? std::optional(set->number(key, 1.0, high)) : std::nullopt;
            };
            entry.device = set->text_or("device", "");
            entry.engine = set->text_or("engine", "");
            entry.engine_version = set->text_or("version", "");
            entry.drafter_model = set->text_or("drafter_model", "");
            entry.draft_tokens = number("draft_tokens", most_drafts);
            entry.tree_steps = number("tree_steps", most_drafts);
            entry.tree_top_k = number("tree_top_k", most_drafts);
            entry.tree_size = number("tree_size", most_drafts);
            entry.devices = number("devices", sim::most_ranks);
            entry.most_requests = number("most_requests", sim::largest_batch);
            entry.vector_rows = number("vector_rows", 1024.0);
            entry.new_prompt_tokens = number("new_prompt_tokens", longest_text);
            entry.output_tokens = number("output_tokens", longest_text);
            entry.experts = number("experts", sim::most_ranks);
            entry.draft_ranks = number("draft_ranks", sim::most_ranks);
            entry.replicas = set->flag_or("replicas", false);
            entry.unstated = set->text_or("unstated", "");
            entry.format = set->text_or("format", "");
            entry.expert_kernels = set->text_or("expert_kernels", "");
            entry.attention_kernels = set->text_or("attention_kernels", "");
            entry.interconnect = set->text_or("interconnect", "");
            entry.counts_rounds_that_drafted = set->flag_or("counts_rounds_that_drafted", false);
            entry.attends_to_all = set->flag_or("attends_to_all", false);
            entry.reports_defect = set->flag_or("reports_defect", false);
            entry.differs_in_more = set->flag_or("differs_in_more", false);
            entry.shares_prompt = set->flag_or("shares_prompt", false);
            if (set->has("expert_pool")) {
                entry.expert_pool = set->number("expert_pool", 1e-3, 1.0);
            }
            if (set->has("host_speed")) {
                entry.host_speed = set->number("host_speed", 0.05, 20.0);
            }
            if (set->has("power_limit")) {
                entry.power_limit = Watts(set->number("power_limit", 1.0, 10'000.0));
            }
            set->finish();
        } else {
            at.problem(
                "set",
                "must say what holds: device, engine, version, drafter_model, draft_tokens, tree_steps, tree_top_k, tree_size, "
                "devices, most_requests, vector_rows, new_prompt_tokens, output_tokens, experts, draft_ranks, "
                "replicas, unstated, format, expert_kernels, "
                "attention_kernels, interconnect, counts_rounds_that_drafted, attends_to_all, reports_defect, differs_in_more, "
                "shares_prompt, expert_pool, host_speed, power_limit");
        }
        entry.published = at.text("kind") == "published";
        static_cast<void>(at.text("source"));
        at.finish();
        table.conditions.push_back(std::move(entry));
    }
}

void read_benchmark(json::Reader& root, validation::NameTable& table) {
    json::Reader benchmark = root.object("benchmark");
    for (json::Reader& at : benchmark.objects("entries")) {
        validation::BenchmarkEntry entry{read_runs(at), {}, {}, {}};
        if (at.has("speculation")) {
            entry.speculation = at.choice<validation::HiddenSpeculation>("speculation");
        }
        if (at.has("kv_cache")) {
            entry.kv_cache = at.choice<sim::NumberFormat>("kv_cache");
        }
        if (at.has("state")) {
            entry.state = at.choice<sim::NumberFormat>("state");
        }
        table.benchmark.push_back(std::move(entry));
        finish_entry(at);
    }
    finish_entry(benchmark);
}

}  // namespace

std::vector<validation::EvidenceEntry> read_evidence(const std::filesystem::path& path) {
    json::Document document = json::Document::load(path);
    json::Reader root = document.root();
    std::vector<validation::EvidenceEntry> entries;
    static_cast<void>(root.choice("format", {"treeline-evidence"}));
    static_cast<void>(root.count("version", 1, 1));
    static_cast<void>(root.text("note"));
    for (json::Reader& at : root.objects("entries")) {
        entries.push_back({at.texts("citations"), at.texts("numbers")});
        at.finish();
    }
    root.finish();
    document.throw_if_problems();
    return entries;
}

validation::NameTable read_name_table(const std::filesystem::path& path) {
    json::Document document = json::Document::load(path);
    json::Reader root = document.root();
    validation::NameTable table;
    static_cast<void>(root.choice("format", {"treeline-names"}));
    static_cast<void>(root.count("version", 1, 1));
    read_models(root.object("models"), table);
    json::Reader experts_only = root.object("fp4_experts_only");
    table.fp4_experts_only = experts_only.texts("match");
    json::Reader documented = root.object("documented_sources");
    table.documented = documented.texts("match");
    finish_entry(experts_only);
    finish_entry(documented);
    table.ignored_device_words = root.texts("ignored_device_words");
    table.devices = read_entries(root, "devices");
    table.drafters = read_entries(root, "drafters");
    read_engines(root, table);
    static_cast<void>(root.text_or("formats_source", ""));
    read_formats(root, table);
    read_datasets(root, table);
    table.reasoning_output_tokens = root.ratio("reasoning_output_tokens", 1.0, longest_text);
    read_exclusions(root, table);
    read_conditions(root, table);
    read_benchmark(root, table);
    json::Reader narrower = root.object("narrower_formats");
    table.narrower_formats = narrower.texts("words");
    finish_entry(narrower);
    root.finish();
    document.throw_if_problems();
    return table;
}

}  // namespace treeline::requests
