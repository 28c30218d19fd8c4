// What was read of a catalogue, for programs that answer many questions: each file once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <typeinfo>
#include <utility>

namespace treeline::requests {

/// Threads may ask at the same time. It holds no more than the catalogue does, since a name that it lacks is not remembered.
class Remembered {
public:
    /// The T that `load` returns, which is called where nothing is remembered under `name`. What it throws is not caught.
    template <class T, class Load>
    std::shared_ptr<const T> of(const std::string& name, Load load) {
        const std::string key = std::string(typeid(T).name()) + ' ' + name;
        {
            const std::lock_guard lock(mutex_);
            if (const auto known = known_.find(key); known != known_.end()) {
                return std::static_pointer_cast<const T>(known->second);
            }
        }
        auto loaded = std::make_shared<const T>(load());
        const std::lock_guard lock(mutex_);
        return std::static_pointer_cast<const T>(known_.emplace(key, std::move(loaded)).first->second);
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const void>> known_;
};

}  // namespace treeline::requests
