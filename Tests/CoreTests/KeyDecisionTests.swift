import Histories
import Testing

@testable import Core

@Suite("Keys that are made, rotated and revoked")
struct KeyDecisionTests {
    private let now = at(10)
    private let project: ProjectID = id("default")

    private func made(ending end: KeyEnd? = nil) throws -> ProjectState {
        var state = ProjectState()
        state.apply(.projectCreated(ProjectCreated(project: project)), recordedAt: at(1))
        let events = try state.add(
            id("k_1"), .backend, name: "lobby", digest: "00", ending: end, only: .sandbox,
            to: project, now: at(5))
        for event in events { state.apply(event, recordedAt: at(5)) }
        return state
    }

    private func rotate(
        _ state: inout ProjectState, _ overlap: KeyOverlap?, ending end: KeyEnd? = nil,
        key: String = "k_1", to new: String = "k_2"
    ) throws -> [Event] {
        let events = try state.rotate(
            id(key), to: id(new), digest: "01", overlap: overlap, ending: end, now: now)
        for event in events { state.apply(event, recordedAt: now) }
        return events
    }

    @Test("A rotation makes a key like the old one, and gives the old one an end")
    func rotated() throws {
        var state = try made()
        let events = try rotate(&state, .lasting(.days(3)))
        #expect(events.map(\.type) == [.keyCreated, .keyRotated])
        let (old, new) = (try #require(state.key(id("k_1"))), try #require(state.key(id("k_2"))))
        #expect(old.limits.expires == at(13) && old.limits.environment == .sandbox)
        #expect(new.limits == KeyLimits(environment: .sandbox))
        #expect(new.created.role == .backend && new.created.name == "lobby")
        #expect(new.created.replaced == id("k_1"))
        #expect(old.end(by: at(12)) == nil && old.end(by: at(13)) == at(13))
    }

    @Test("The new key lives as long as the old one was made for, unless an end is given")
    func lifetime() throws {
        var state = try made(ending: .after(.days(30)))
        _ = try rotate(&state, nil)
        #expect(state.key(id("k_2"))?.limits.expires == at(40))
        var other = try made(ending: .after(.days(30)))
        _ = try rotate(&other, nil, ending: .at(at(20)))
        #expect(other.key(id("k_2"))?.limits.expires == at(20))
    }

    @Test("The usual overlap ends with the key at the latest")
    func usualOverlap() throws {
        var state = try made(ending: .at(at(12)))
        _ = try rotate(&state, nil)
        #expect(state.key(id("k_1"))?.limits.expires == at(12))
        var endless = try made()
        _ = try rotate(&endless, nil)
        #expect(endless.key(id("k_1"))?.limits.expires == at(17))
    }

    @Test("An end in the past, an overlap beyond the end, a key that is over: each its own code")
    func refused() throws {
        func code(_ body: () throws -> [Event]) -> String? {
            #expect(throws: Refusal.self) { try body() }?.code
        }
        var state = try made(ending: .at(at(12)))
        func add(_ end: KeyEnd) -> String? {
            code {
                try state.add(
                    id("k_9"), .reader, name: "", digest: "09", ending: end, to: project, now: now)
            }
        }
        let before = state
        #expect(add(.at(at(10))) == "key_ends_in_the_past")
        #expect(add(.at(at(9))) == "key_ends_in_the_past")
        #expect(add(.after(duration("P9000Y"))) == "key_ends_too_late")
        #expect(code { try rotate(&state, .lasting(.days(3))) } == "overlap_beyond_end")
        #expect(code { try rotate(&state, nil, ending: .at(at(10))) } == "key_ends_in_the_past")
        #expect(code { try rotate(&state, nil, key: "k_7") } == "key_unknown")
        #expect(before == state)
        // An overlap may end exactly when the old key ends.
        _ = try rotate(&state, .lasting(.days(2)))
        #expect(code { try rotate(&state, nil, to: "k_3") } == "key_rotated")
        var revoked = try made()
        for event in try revoked.revoke(id("k_1"), now: now) {
            revoked.apply(event, recordedAt: now)
        }
        #expect(code { try rotate(&revoked, nil) } == "key_over")
        var over = try made(ending: .at(at(10)))
        #expect(code { try rotate(&over, nil) } == "key_over")
        var far = try made()
        #expect(
            code { try rotate(&far, .lasting(duration("P9000Y"))) } == "key_ends_too_late")
    }

    @Test("Keys that have ended leave room for others")
    func room() throws {
        var state = try made(ending: .at(at(12)))
        for number in 2...ProjectState.keyLimit {
            let events = try state.add(
                id("k_\(number)"), .reader, name: "", digest: "\(number)", to: project, now: now)
            for event in events { state.apply(event, recordedAt: now) }
        }
        func add(at now: Instant) throws {
            _ = try state.add(
                id("k_more"), .reader, name: "", digest: "x", to: project, now: now)
        }
        #expect(throws: Refusal.tooManyKeys(limit: ProjectState.keyLimit)) { try add(at: now) }
        #expect(throws: Refusal.tooManyKeys(limit: ProjectState.keyLimit)) {
            try state.rotate(id("k_1"), to: id("k_more"), digest: "x", overlap: nil, now: now)
        }
        try add(at: at(12))
    }

    @Test("Only an actor that is a key has a name")
    func names() throws {
        let state = try made()
        #expect(state.name(of: id("key:k_1")) == "lobby")
        for other in ["key:k_2", "key:", "cli:k_1", "k_1", "key:k_1 "] {
            #expect(state.name(of: id(other)) == nil)
        }
    }
}
