#include "store/fingerprint.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>

#include "store/store.h"
#include "sweeps/variant_grids.h"
#include "text/catalogue_folder.h"
#include "text/input_file.h"

namespace treeline::store {
namespace {

namespace fs = std::filesystem;

/// First, middle and last place of an axis.
std::vector<std::size_t> probes(std::size_t size) {
    const std::set<std::size_t> places = {0, size / 2, size - 1};
    return {places.begin(), places.end()};
}

void append_figures(const sim::CompiledRound& round, const sweeps::DesignSpace& space, std::string& bytes) {
    for (const std::size_t shape : probes(space.speculation.size())) {
        for (const std::size_t batch : probes(space.batch.size())) {
            for (const std::size_t context : probes(space.context.size())) {
                if (!round.runs(space.speculation[shape])) {
                    continue;
                }
                const sim::RoundEstimate e =
                    sim::evaluate(round, {space.speculation[shape], space.batch[batch], space.context[context]});
                const std::array numbers = {
                    e.autoregressive.value(),   e.round.value(),           e.accept_length,           e.memory.value(),
                    e.energy_per_token.value(), e.price_per_token.value(), e.tokens_per_second_device};
                bytes.append(reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
            }
        }
    }
}

}  // namespace

std::string catalogue_hash(const requests::Catalogue& catalogue) {
    std::vector<fs::path> files;
    for (const fs::path& folder : {catalogue.models, catalogue.hardware}) {
        const std::vector<fs::path> found = text::files_below(folder);
        std::copy_if(found.begin(), found.end(), std::back_inserter(files),
                     [](const fs::path& file) { return file.extension() == ".json"; });
    }
    std::sort(files.begin(), files.end());
    std::string hashes;
    for (const fs::path& file : files) {
        hashes += file.filename().string() + " " + hash_of(text::read_file(file)) + "\n";
    }
    return hash_of(hashes);
}

std::string fingerprint_of(const std::vector<text::Provenance>& provenance, const sweeps::DesignSpace& space) {
    std::string bytes;
    for (const text::Provenance& entry : provenance) {
        bytes += entry.path + "=" + entry.text + "\n";
    }
    for (std::size_t i = 0; i < space.variants.size(); ++i) {
        bytes += space.variants[i].labels.text();
        const sim::RoundSetup setup = setup_of(space, i);
        if (problems_of(setup).empty()) {
            append_figures(sim::compile_round(setup), space, bytes);
        }
    }
    return hash_of(bytes);
}

}  // namespace treeline::store
