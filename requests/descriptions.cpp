#include "requests/descriptions.h"

#include "hardware/accelerators.h"
#include "hardware/calibration.h"
#include "hardware/catalogue.h"
#include "hardware/stack_versions.h"
#include "models/catalogue.h"
#include "requests/file_kind.h"
#include "requests/known_drafters.h"
#include "requests/published_acceptance.h"
#include "requests/remembered.h"
#include "text/catalogue_folder.h"

namespace treeline::requests {

namespace fs = std::filesystem;

bool looks_like_path(std::string_view name_or_path) {
    return name_or_path.find('/') != std::string_view::npos || name_or_path.ends_with(".json") ||
           name_or_path.ends_with(".gguf");
}

std::string without_path_advice(const std::string& problem) {
    return problem.substr(0, problem.find("; a path to "));  // it stands at the end of all that give it
}

Descriptions::Descriptions(Catalogue catalogue, fs::path base_folder)
    : catalogue_(std::move(catalogue)), base_folder_(std::move(base_folder)) {}

std::string Descriptions::resolved(const std::string& name_or_path) const {
    return looks_like_path(name_or_path) ? resolved_path(name_or_path) : name_or_path;
}

std::string Descriptions::resolved_path(const std::string& path) const {
    if (!reads_files()) {
        throw text::InputError({"\"" + path + "\" is a file, and none is read here; name what the catalogue holds"});
    }
    if (!fs::path(path).is_relative() || !looks_like_path(path) || text::is_builtin(path)) {
        return path;
    }
    const std::string normal = (base_folder_ / path).lexically_normal().string();
    return looks_like_path(normal) ? normal : "./" + normal;  // "./folder" stays a path
}

std::string Descriptions::resolved_shape(const std::string& text) const {
    const std::size_t colon = text.find(':');
    const bool short_form = colon != std::string::npos && colon > 0 && !looks_like_path(text.substr(0, colon));
    return short_form ? text : resolved(text);
}

const std::vector<PublishedDrafter>& Descriptions::published_drafters() {
    if (!published_) {
        using Drafters = std::vector<PublishedDrafter>;
        const auto read = [&] { return load_published_drafters(drafters_folder()); };
        published_ = catalogue_.remembered ? catalogue_.remembered->of<Drafters>("drafters", read)
                                           : std::make_shared<const Drafters>(read());
    }
    return *published_;
}

const sim::DrafterEffects& Descriptions::drafter_effects() {
    if (!effects_) {
        const auto make = [&] { return effects_of(published_drafters()); };
        effects_ = catalogue_.remembered ? catalogue_.remembered->of<sim::DrafterEffects>("drafter effects", make)
                                         : std::make_shared<const sim::DrafterEffects>(make());
    }
    return *effects_;
}

std::vector<std::string> Descriptions::calibrated_devices() const {
    return treeline::hardware::calibrated_devices(catalogue_.hardware);
}

void Descriptions::add_provenance(const std::vector<text::Provenance>& more) {
    const std::vector<text::Provenance> entries = with_known_names(more, catalogue_);
    provenance_.insert(provenance_.end(), entries.begin(), entries.end());
}

std::vector<text::Provenance> Descriptions::named(std::vector<text::Provenance> entries,
                                                  const std::vector<std::string>& given) const {
    std::vector<NamedFile> files;
    for (const std::string& name : given) {
        files.push_back({resolved(name), name});
    }
    return with_known_names(std::move(entries), catalogue_, files);
}

template <class T, class Load>
const T* Descriptions::find(Cache<T>& cache, json::Reader& at, std::string_view key, const std::string& name,
                            const std::vector<FileKind>& kinds, Load load, const std::string& design) {
    if (name.empty()) {
        return nullptr;  // the reader has noted why
    }
    const std::string wanted = resolved(name);
    const std::string id = wanted + "\n" + resolved(design);
    if (const auto known = cache.find(id); known != cache.end()) {
        return &known->second;
    }
    try {
        json::Described<T> described = catalogue_.remembered && !looks_like_path(wanted) && !looks_like_path(design)
                                           ? *catalogue_.remembered->of<json::Described<T>>(id, [&] { return load(wanted); })
                                           : load(wanted);
        add_provenance(named(std::move(described.provenance), {name, design}));
        return &cache.emplace(id, std::move(described.value)).first->second;
    } catch (const text::InputError& error) {
        if (const std::string other = looks_like_path(name) ? other_kind_of_file(wanted, kinds) : ""; !other.empty()) {
            at.problem(key, wanted + ": " + other);
            return nullptr;
        }
        for (const std::string& problem : error.problems()) {
            at.problem(key, reads_files() ? problem : without_path_advice(problem));
        }
        return nullptr;
    }
}

const sim::Model* Descriptions::model(json::Reader& at, std::string_view key) { return model_called(at, key, at.text(key)); }

const sim::Model* Descriptions::model_called(json::Reader& at, std::string_view key, const std::string& called) {
    return find(models_, at, key, called, {FileKind::model, FileKind::hugging_face},
                [&](const std::string& name) { return models::load_model(catalogue_.models, name); });
}

const sim::Model* Descriptions::drafter_model(json::Reader& at, std::string_view key) {
    const auto load = [&](const std::string& name) {
        try {
            return models::load_model(catalogue_.models, name);
        } catch (const text::InputError& error) {
            if (looks_like_path(name)) {
                throw;
            }
            throw text::InputError({error.what() + no_other_drafter(drafters_folder(), name)});
        }
    };
    return find(models_, at, key, models::without_address(at.text(key)), {FileKind::model, FileKind::hugging_face}, load);
}

const sim::Platform* Descriptions::hardware(json::Reader& at, std::string_view key) {
    const std::string design = at.text_or("design", "");
    const auto load = [&](const std::string& name) {
        return hardware::load_hardware(catalogue_.hardware, name, resolved(design));
    };
    return find(hardware_, at, key, at.text(key), {FileKind::device, FileKind::board}, load, design);
}

std::shared_ptr<const sim::Platform> Descriptions::host(json::Reader& at, std::string_view key, const std::string& fallback) {
    if (!places_weights_ && !at.has(key)) {
        return nullptr;
    }
    const sim::Platform* named =
        find(hardware_, at, key, at.text_or(key, fallback), {FileKind::device},
             [&](const std::string& name) { return hardware::load_hardware(catalogue_.hardware, name, ""); });
    if (named == nullptr) {
        return nullptr;
    }
    if (named->device.kind != sim::DeviceKind::cpu) {
        at.problem(key, named->device.name + " is no CPU");
        return nullptr;
    }
    sim::Platform host = *named;
    host.stack = hardware::load_stack(catalogue_.hardware, "cpu").value;
    return std::make_shared<const sim::Platform>(std::move(host));
}

const sim::Stack* Descriptions::stack(json::Reader& at, std::string_view key, const std::string& fallback) {
    return find(stacks_, at, key, at.text_or(key, fallback), {FileKind::stack},
                [&](const std::string& name) { return hardware::load_stack(catalogue_.hardware, name); });
}

const sim::Stack* Descriptions::stack_of_engine(json::Reader& at, std::string_view key, const std::string& engine) {
    std::string name = engine;
    if (const std::size_t version = engine.find('@'); version != std::string::npos) {
        name = engine.substr(0, version);
        const std::string wanted = name + "-" + engine.substr(version + 1);
        // load_stack() takes the nearest one, and says for which version it stands.
        name = hardware::nearest_version(hardware::stack_names(catalogue_.hardware), wanted) ? wanted : name;
    }
    return find(stacks_, at, key, name, {FileKind::stack},
                [&](const std::string& stack) { return hardware::load_stack(catalogue_.hardware, stack); });
}

const sim::ExpertKernels* Descriptions::expert_kernels(json::Reader& at, std::string_view key) {
    return find(expert_kernels_, at, key, at.text(key), {FileKind::unknown},
                [&](const std::string& name) { return hardware::load_expert_kernels(catalogue_.hardware, name); });
}

const sim::AttentionKernels* Descriptions::attention_kernels(json::Reader& at, std::string_view key) {
    return find(attention_kernels_, at, key, at.text(key), {FileKind::unknown},
                [&](const std::string& name) { return hardware::load_attention_kernels(catalogue_.hardware, name); });
}

}  // namespace treeline::requests
