// The models, devices and stacks that an input file names: each is read once, and the sources of its numbers are remembered.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "json/described.h"
#include "requests/catalogue.h"
#include "sim/drafter_effects.h"
#include "sim/model.h"
#include "sim/platform.h"
#include "sim/stack.h"

namespace treeline::requests {

enum class FileKind;
struct PublishedDrafter;

/// As the folder of an input: it may name what the catalogue holds and no file. Whoever answers others reads none for them.
inline constexpr const char* no_files = ":no files:";

class Descriptions {
public:
    /// Paths in input files are relative to `base_folder`, the folder of the file that names them, or no_files.
    Descriptions(Catalogue catalogue, std::filesystem::path base_folder);

    /// The description that the text under `key` names. On failure its problems are noted at that key, and the result is null.
    /// Valid as long as this object lives.
    const sim::Model* model(json::Reader& at, std::string_view key);
    /// The same of a name that was read from there.
    const sim::Model* model_called(json::Reader& at, std::string_view key, const std::string& called);
    /// The same of a model that drafts: an unknown name may mean a kind of drafter or a published one, too.
    const sim::Model* drafter_model(json::Reader& at, std::string_view key);
    /// A device, a design, or a board with the design under "design" (hardware/accelerators.h).
    const sim::Platform* hardware(json::Reader& at, std::string_view key);
    const sim::Stack* stack(json::Reader& at, std::string_view key, const std::string& fallback);
    /// The CPU under `key`, or `fallback`, with llama.cpp's numbers for CPUs; null where nothing was placed on a host.
    std::shared_ptr<const sim::Platform> host(json::Reader& at, std::string_view key, const std::string& fallback);
    /// Says that some target has weights on the host.
    void note_placement() { places_weights_ = true; }
    /// That of an engine at a version ("vllm", "vllm@0.19"): the one for this version or the nearest before it; else the
    /// newest.
    const sim::Stack* stack_of_engine(json::Reader& at, std::string_view key, const std::string& engine);
    const sim::ExpertKernels* expert_kernels(json::Reader& at, std::string_view key);
    const sim::AttentionKernels* attention_kernels(json::Reader& at, std::string_view key);

    /// Described values of everything read so far, in reading order.
    [[nodiscard]] const std::vector<text::Provenance>& provenance() const { return provenance_; }
    /// A path as the file means it; a name unchanged. Throws InputError for a path where no file may be named.
    [[nodiscard]] std::string resolved(const std::string& name_or_path) const;
    /// The same for what is a path however it looks.
    [[nodiscard]] std::string resolved_path(const std::string& path) const;
    /// The same for a tree, which may also stand in its short form ("children:3/2,1").
    [[nodiscard]] std::string resolved_shape(const std::string& text) const;
    [[nodiscard]] bool reads_files() const { return base_folder_ != no_files; }
    [[nodiscard]] const Catalogue& catalogue() const { return catalogue_; }
    [[nodiscard]] std::filesystem::path trees_folder() const { return catalogue_.trees(); }
    [[nodiscard]] std::filesystem::path drafters_folder() const { return catalogue_.models / "drafters"; }
    /// The catalogue's published drafters, which are read when they are first asked for.
    [[nodiscard]] const std::vector<PublishedDrafter>& published_drafters();
    /// What was measured of them, made comparable; likewise.
    [[nodiscard]] const sim::DrafterEffects& drafter_effects();
    /// Devices of the catalogue whose kernels were measured.
    [[nodiscard]] std::vector<std::string> calibrated_devices() const;
    void add_provenance(const std::vector<text::Provenance>& more);
    /// Entries under the names that with_known_names gives, for files that the input calls `given`.
    [[nodiscard]] std::vector<text::Provenance> named(std::vector<text::Provenance> entries,
                                                      const std::vector<std::string>& given) const;

private:
    template <class T>
    using Cache = std::map<std::string, T>;

    template <class T, class Load>
    const T* find(Cache<T>& cache, json::Reader& at, std::string_view key, const std::string& name,
                  const std::vector<FileKind>& kinds, Load load, const std::string& design = {});

    Catalogue catalogue_;
    std::filesystem::path base_folder_;
    Cache<sim::Model> models_;
    Cache<sim::Platform> hardware_;
    Cache<sim::Stack> stacks_;
    Cache<sim::ExpertKernels> expert_kernels_;
    Cache<sim::AttentionKernels> attention_kernels_;
    bool places_weights_ = false;
    std::vector<text::Provenance> provenance_;
    std::shared_ptr<const std::vector<PublishedDrafter>> published_;  ///< null until they are asked for
    std::shared_ptr<const sim::DrafterEffects> effects_;              ///< likewise
};

/// A refusal of a name without the advice to give a path, for readers that read none.
std::string without_path_advice(const std::string& problem);

/// True for what the catalogues take as a path: text that contains a slash or ends in .json or .gguf.
bool looks_like_path(std::string_view name_or_path);

}  // namespace treeline::requests
