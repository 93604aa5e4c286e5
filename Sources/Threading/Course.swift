/// Work that consists of steps, some of which wait without blocking a thread.
///
/// A step describes what it needs, not who carries it out. A command-line program's own thread may
/// wait for the result. A server continues on the thread on which the previous step ended.
package indirect enum Course<End: Sendable>: Sendable {
    case ended(End)
    /// Work for a thread that may block for a while, such as a database query.
    case work(@Sendable () -> Course)
    /// Begins an operation that later resumes the course exactly once, from a thread that must not
    /// be blocked.
    case wait(@Sendable (_ resume: @escaping @Sendable (Course) -> Void) -> Void)
}

extension Course {
    /// This course, followed by the course that `next` creates from its result.
    package func then<Other>(
        _ next: @escaping @Sendable (End) -> Course<Other>
    ) -> Course<Other> {
        switch self {
        case .ended(let end): next(end)
        case .work(let work): .work { work().then(next) }
        case .wait(let begin): .wait { resume in begin { resume($0.then(next)) } }
        }
    }

    package func map<Other>(_ change: @escaping @Sendable (End) -> Other) -> Course<Other> {
        then { .ended(change($0)) }
    }

    /// Runs the course on this thread, and blocks until it has ended.
    package func awaited() -> End {
        var course = self
        while true {
            switch course {
            case .ended(let end): return end
            case .work(let work): course = work()
            case .wait(let begin):
                let next = Monitor<Course?>(nil)
                begin { given in next.change(wake: .one) { $0 = given } }
                course = next.wait { $0 }
            }
        }
    }

    /// Runs the course. `end` is called on the thread of the last step. `isPatient` says whether
    /// this thread may block. If it may not, `whenPatient` finds another thread for the work.
    package func carryOut(
        isPatient: Bool,
        whenPatient: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        end: @escaping @Sendable (End, _ isPatient: Bool) -> Void
    ) {
        switch self {
        case .ended(let result): end(result, isPatient)
        case .work(let work):
            if isPatient {
                return work().carryOut(isPatient: true, whenPatient: whenPatient, end: end)
            }
            whenPatient { work().carryOut(isPatient: true, whenPatient: whenPatient, end: end) }
        case .wait(let begin):
            begin { $0.carryOut(isPatient: false, whenPatient: whenPatient, end: end) }
        }
    }

    /// Runs all courses concurrently. Each continues as soon as it can, even while others wait.
    package static func all(_ courses: [Course]) -> Course<[End]> {
        let gathering = Gathering(courses)
        return .work { gathering.goOn() }
    }

    /// Performs the work up to the first wait or the end, and returns the rest of the course.
    fileprivate var untilWaiting: Course {
        var course = self
        while case .work(let work) = course { course = work() }
        return course
    }
}

/// Courses that run concurrently until all of them have ended.
private final class Gathering<End: Sendable>: Sendable {
    private struct State: Sendable {
        var ends: [Int: End] = [:]
        /// The courses that can continue.
        var ready: [(place: Int, course: Course<End>)]
        /// Resumes the course. Set while no course can continue.
        var resume: (@Sendable (Course<[End]>) -> Void)?
    }
    private let state: Monitor<State>
    private let count: Int

    init(_ courses: [Course<End>]) {
        count = courses.count
        state = Monitor(State(ready: courses.enumerated().map { ($0, $1) }))
    }

    /// Runs the courses that can continue. One course may enable another to continue.
    func goOn() -> Course<[End]> {
        while true {
            let ready = state.change(wake: .none) { state in
                defer { state.ready = [] }
                return state.ready
            }
            if ready.isEmpty { break }
            for (place, course) in ready { goOn(with: course, at: place) }
        }
        let ends = state.change(wake: .none) { $0.ends }
        if ends.count == count { return .ended((0..<count).compactMap { ends[$0] }) }
        return .wait { [self] resume in
            let canGoOn = state.change(wake: .none) { state in
                if state.ready.isEmpty { state.resume = resume }
                return !state.ready.isEmpty
            }
            if canGoOn { resume(.work { [self] in goOn() }) }
        }
    }

    private func goOn(with course: Course<End>, at place: Int) {
        switch course.untilWaiting {
        case .ended(let end): state.change(wake: .none) { $0.ends[place] = end }
        case .work: preconditionFailure("no work is left before a course waits")
        case .wait(let begin):
            begin { [self] next in
                let resume = state.change(wake: .none) { state in
                    state.ready.append((place, next))
                    defer { state.resume = nil }
                    return state.resume
                }
                resume?(.work { [self] in goOn() })
            }
        }
    }
}
