// Streams for native builds: the part of Vitis' hls_stream.h that the kernels use, without a limit on what a stream holds (the
// scheduler applies its depth). While a trace is being recorded, reads, writes and iterations go into it.
#pragma once

#include <deque>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/hls/trace.h"

namespace hls {

/// Where the running kernels record, per thread; null: nowhere.
inline thread_local treeline::kernels::accelerator::Trace* recording = nullptr;

/// Records into a trace for as long as it lives.
class Recording {
public:
    explicit Recording(treeline::kernels::accelerator::Trace& trace) { recording = &trace; }
    ~Recording() { recording = nullptr; }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
};

/// Stands at the head of each pipelined loop body.
inline void begin_iteration() {
    if (recording != nullptr) {
        recording->begin_iteration();
    }
}

template <class T>
class stream {
public:
    /// `id` is the stream's number in the trace.
    stream(std::string name, int id) : name_(std::move(name)), id_(id) {}

    void write(const T& value) {
        if (recording != nullptr) {
            recording->record(treeline::kernels::accelerator::Access::write, id_);
        }
        queue_.push_back(value);
    }
    /// Throws std::logic_error if there is nothing: functions that run in turn would wait forever.
    T read() {
        if (queue_.empty()) {
            throw std::logic_error("stream \"" + name_ + "\" is read before it is written");
        }
        if (recording != nullptr) {
            recording->record(treeline::kernels::accelerator::Access::read, id_);
        }
        T value = queue_.front();
        queue_.pop_front();
        return value;
    }
    [[nodiscard]] bool empty() const { return queue_.empty(); }
    [[nodiscard]] int id() const { return id_; }

private:
    std::string name_;
    int id_;
    std::deque<T> queue_;
};

}  // namespace hls

#define TREELINE_ITERATION ::hls::begin_iteration()
