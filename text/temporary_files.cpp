#include "text/temporary_files.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <ctime>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/output_file.h"

namespace treeline::text {
namespace {

namespace fs = std::filesystem;

enum class Use { free, changing, taken };

/// A place that a signal handler can read: no allocation, no lock.
struct Place {
    std::atomic<Use> use = Use::free;
    std::array<char, PATH_MAX> path{};
};
std::array<Place, 16> places;
static_assert(std::atomic<Use>::is_always_lock_free);

constexpr std::time_t youngest_abandoned = 60;  ///< seconds: a writer may be between opening and locking

bool is_abandoned(int descriptor) {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
           std::time(nullptr) - status.st_mtime > youngest_abandoned && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
}

bool is_temporary(const std::string& name, std::string_view beginning) {
    if (!name.starts_with(beginning) || !name.ends_with(temporary_ending) ||
        name.size() <= beginning.size() + temporary_ending.size()) {
        return false;
    }
    const std::string_view middle =
        std::string_view(name).substr(beginning.size(), name.size() - beginning.size() - temporary_ending.size());
    return middle.find_first_not_of("0123456789-") == std::string_view::npos;
}

}  // namespace

void remember_temporary(const fs::path& path) noexcept {
    for (Place& place : places) {
        Use expected = Use::free;
        if (path.native().size() < place.path.size() && place.use.compare_exchange_strong(expected, Use::changing)) {
            std::memcpy(place.path.data(), path.c_str(), path.native().size() + 1);
            place.use = Use::taken;
            return;
        }
    }
}

void forget_temporary(const fs::path& path) noexcept {
    for (Place& place : places) {
        if (place.use == Use::taken && std::strcmp(place.path.data(), path.c_str()) == 0) {
            place.use = Use::free;
        }
    }
}

void remove_temporary_files() noexcept {
    for (Place& place : places) {
        if (place.use == Use::taken) {
            ::unlink(place.path.data());
        }
    }
}

void remove_abandoned(const fs::path& folder, std::string_view beginning) noexcept try {
    std::error_code error;
    for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end; !error && entry != end;
         entry.increment(error)) {
        if (!is_temporary(entry->path().filename().string(), beginning)) {
            continue;
        }
        const int descriptor = ::open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (descriptor >= 0) {
            if (is_abandoned(descriptor)) {
                ::unlink(entry->path().c_str());
            }
            ::close(descriptor);
        }
    }
} catch (...) {
    // What is left behind stays: the result itself does not depend on it.
}

}  // namespace treeline::text
