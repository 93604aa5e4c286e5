import Core
import Ledger
import TestSupport
import Testing

@Suite("The project of an app")
struct AppProjectionTests {
    private let database: ScratchDatabase
    private let ledger: Ledger
    private let game: AppKey

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger()
        game = AppKey(store: .apple, id: try AppID("com.example.game"))
        for project in ["first", "second"] {
            try change(project, key: "create") { project, state throws(Refusal) in
                try state.create(project)
            }
        }
    }

    private func change(
        _ project: String, key: String, through ledger: Ledger? = nil,
        _ decide: @escaping @Sendable (ProjectID, ProjectState) throws(Refusal) -> [Event]
    ) throws {
        let project = try ProjectID(project)
        let cause = Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
        _ = try (ledger ?? self.ledger).append(
            .project(project, actor: try Actor("test"), cause: cause) { state, _ throws(Refusal) in
                try decide(project, state)
            })
    }

    private func set(_ project: String, key: String, through ledger: Ledger? = nil) throws {
        let game = game
        try change(project, key: key, through: ledger) { project, state throws(Refusal) in
            try state.set(game, AppChange(), of: project, by: .operator)
        }
    }

    private func remove(_ project: String, key: String) throws {
        let game = game
        try change(project, key: key) { _, state throws(Refusal) in try state.remove(game) }
    }

    private func holders() throws -> [String] { try ledger.apps().map(\.project.text) }

    @Test("A second project is refused, writes nothing, and gets the app once it is free")
    func taken() throws {
        try set("first", key: "1")
        #expect(throws: CommandError.refused(.appTaken)) { try set("second", key: "1") }
        #expect(try ledger.project(ProjectID("second")).apps.isEmpty)
        #expect(try holders() == ["first"])
        try remove("first", key: "2")
        #expect(try holders().isEmpty)
        try set("second", key: "2")
        #expect(try holders() == ["second"])
    }

    @Test("If two projects take an app at once, from two processes, one has it")
    func race() throws {
        let other = database.ledger()
        defer { other.close() }
        for round in 0..<20 {
            inParallel(2) { lane in
                _ = try? set(
                    lane == 0 ? "first" : "second", key: "set \(round)",
                    through: lane == 0 ? ledger : other)
            }
            let holder = try #require(try holders().first)
            #expect(try holders().count == 1)
            for project in ["first", "second"] {
                let state = try ledger.project(ProjectID(project))
                #expect(state.apps.map(\.key) == (project == holder ? [game] : []))
            }
            try remove(holder, key: "remove \(round)")
        }
    }

    @Test("The list follows what was set and removed, whatever a batch contained")
    func sameBatch() throws {
        let game = game
        try change("first", key: "both") { project, state throws(Refusal) in
            try state.set(game, AppChange(), of: project, by: .operator) + [
                .appRemoved(AppRemoved(key: game))
            ]
        }
        #expect(try holders().isEmpty)
        try set("second", key: "1")
        #expect(try holders() == ["second"])
    }
}
