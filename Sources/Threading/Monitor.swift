import Glibc

/// How many of the waiting threads are woken after a change to a `Monitor`.
package enum Wake { case none, one, all }

/// A value that threads change under a lock and can wait for.
///
/// `@unchecked Sendable`: safe, because the value is accessed only between `lock` and `unlock`.
package final class Monitor<Value: ~Copyable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value

    package init(_ value: consuming sending Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
        // Timeouts must not change when an operator sets the wall clock.
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value, and then wakes waiting threads.
    package func change<Result, Failure: Error>(
        wake: Wake = .all, _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            self.wake(wake)
        }
        return try body(&value)
    }

    /// Like `change`, but `body` decides which threads to wake.
    package func changeAndWake<Result>(
        _ body: (inout Value) -> (Result, Wake)
    ) -> Result {
        pthread_mutex_lock(mutex)
        let (result, wake) = body(&value)
        pthread_mutex_unlock(mutex)
        self.wake(wake)
        return result
    }

    private func wake(_ wake: Wake) {
        switch wake {
        case .none: break
        case .one: pthread_cond_signal(condition)
        case .all: pthread_cond_broadcast(condition)
        }
    }

    /// Waits until `body` returns a result.
    package func wait<Result>(for body: (inout Value) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// Waits until `body` returns a result. Returns `nil` if the time runs out first.
    package func wait<Result>(
        milliseconds: Int64, for body: (inout Value) -> Result?
    ) -> Result? {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        let nanoseconds = Int64(deadline.tv_nsec) + milliseconds % 1000 * 1_000_000
        deadline.tv_sec += Int(milliseconds / 1000 + nanoseconds / 1_000_000_000)
        deadline.tv_nsec = Int(nanoseconds % 1_000_000_000)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT {
                return body(&value)
            }
        }
    }
}
