package import Core
import Synchronization
import Threading

/// A signal that wakes a project's delivery threads when something happens in the project.
package final class WebhookBell: Sendable {
    private let mailboxes = Mutex<[ProjectID: [ObjectIdentifier: Mailbox]]>([:])

    package init() {}

    /// Wakes the threads of these projects.
    package func ring(_ projects: Set<ProjectID>) {
        for mailbox in found(projects) { mailbox.ring() }
    }

    /// Tells the threads of erasures, each with its version in the customer's stream.
    package func tell(_ erased: [Stream: Int64]) {
        for project in Set(erased.keys.map(\.project)) {
            let own = erased.filter { $0.key.project == project }
            for mailbox in found([project]) { mailbox.tell(own) }
        }
    }

    /// Tells all threads that events may have been missed, and that they must read their messages again.
    package func cut() {
        for mailbox in found(nil) { mailbox.cut() }
    }

    private func found(_ projects: Set<ProjectID>?) -> [Mailbox] {
        mailboxes.withLock { all in
            all.filter { projects?.contains($0.key) ?? true }.flatMap { $0.value.values }
        }
    }

    func add(_ mailbox: Mailbox, in project: ProjectID) {
        mailboxes.withLock { $0[project, default: [:]][ObjectIdentifier(mailbox)] = mailbox }
    }

    func remove(_ mailbox: Mailbox, in project: ProjectID) {
        mailboxes.withLock { all in
            all[project]?[ObjectIdentifier(mailbox)] = nil
            if all[project]?.isEmpty == true { all[project] = nil }
        }
    }
}

/// The answers, wake-up calls and news of erasures for a delivery thread.
final class Mailbox: Sendable {
    struct Letter: Sendable {
        let line: Line
        let entry: Entry
        let attempt: Int64
        let at: Instant
        let milliseconds: Int64
        let answer: SafeGate.Answer
        /// The values of the fixed headers with which the message was sent.
        let headers: [String]
    }
    struct News {
        var erased: [Stream: Int64] = [:]
        /// Whether there may be other erasures.
        var isIncomplete = false
    }
    private struct State {
        var news = News()
        var letters: [Letter] = []
        var isRung = true
        /// The number of letters that wake the thread. With 0, the first letter or ring wakes it.
        var wanted = 0
    }
    private let state = Monitor(State())
    /// The milliseconds during which letters are collected. On a busy machine, waking the thread for each letter would
    /// cost more than this wait.
    private static let gathering: Int64 = 5

    func ring() {
        state.changeAndWake { state in
            defer { state.isRung = true }
            return ((), state.isRung || state.wanted > 0 ? .none : .all)
        }
    }

    func tell(_ erased: [Stream: Int64]) {
        state.change(wake: .none) { $0.news.erased.merge(erased) { max($0, $1) } }
        ring()
    }

    func cut() {
        state.change(wake: .none) { $0.news.isIncomplete = true }
        ring()
    }

    /// Returns the news since the last call.
    func takeNews() -> News {
        state.change(wake: .none) { state in
            defer { state.news = News() }
            return state.news
        }
    }

    func put(_ letter: Letter) {
        state.changeAndWake { state in
            state.letters.append(letter)
            return ((), state.letters.count >= state.wanted ? .all : .none)
        }
    }

    /// Waits for letters until the time is up, and returns the letters that have arrived. After the first
    /// letter, waits a moment for more.
    func take(
        within milliseconds: Int64, gathering wanted: Int = 1
    ) -> (letters: [Letter], isRung: Bool) {
        let hasLetters = state.wait(milliseconds: milliseconds) { state -> Bool? in
            if state.letters.isEmpty { return state.isRung ? false : nil }
            state.wanted = wanted
            return true
        }
        if hasLetters == true, wanted > 1 {
            _ = state.wait(milliseconds: Mailbox.gathering) { state in
                state.letters.count >= wanted ? () : nil
            }
        }
        return state.change(wake: .none) { state in
            defer { (state.letters, state.isRung, state.wanted) = ([], false, 0) }
            return (state.letters, state.isRung)
        }
    }
}
