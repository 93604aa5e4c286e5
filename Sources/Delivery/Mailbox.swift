package import Core
import Synchronization
import Threading

/// A signal that wakes a project's delivery threads when something happens in the project.
package final class WebhookBell: Sendable {
    private let mailboxes = Mutex<[ProjectID: [ObjectIdentifier: Mailbox]]>([:])

    package init() {}

    /// Wakes the threads of these projects, or of all projects.
    package func ring(_ projects: Set<ProjectID>? = nil) {
        let found = mailboxes.withLock { all in
            all.filter { projects?.contains($0.key) ?? true }.flatMap { $0.value.values }
        }
        for mailbox in found { mailbox.ring() }
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

/// The answers and wake-up calls for a delivery thread.
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
    private struct State {
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

    func put(_ letter: Letter) {
        state.changeAndWake { state in
            state.letters.append(letter)
            return ((), state.letters.count >= state.wanted ? .all : .none)
        }
    }

    /// Waits for letters until the time is up, and returns those that have arrived. After the first
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
            defer { state = State(letters: [], isRung: false) }
            return (state.letters, state.isRung)
        }
    }
}
