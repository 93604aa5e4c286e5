import Core
import Histories
import Testing

@Suite("Settings and apps of a project")
struct SettingsTests {
    private let project: ProjectID = id("default")
    private let game = AppKey(store: .apple, id: id("com.example.game"))

    private func project(
        _ decisions: ((ProjectState) throws -> [Event])...
    ) throws -> ProjectState {
        var state = ProjectState()
        for decide in [{ try $0.create(project) }] + decisions {
            for event in try decide(state) { state.apply(event, recordedAt: at(0)) }
        }
        return state
    }

    private func set(_ key: AppKey, _ access: SandboxAccess) -> (ProjectState) throws -> [Event] {
        { try $0.set(key, AppChange(sandboxAccess: access), of: project, by: .operator) }
    }

    @Test("Sandbox purchases count for no customer, for listed ones, or for all")
    func sandbox() throws {
        let puzzle = AppKey(store: .apple, id: id("com.example.puzzle"))
        let chess = AppKey(store: .apple, id: id("com.example.chess"))
        let state = try project(
            set(game, .none), set(puzzle, .listed([id("tester")])), set(chess, .all))
        #expect(state.apps.map(\.key) == [chess, game, puzzle])
        #expect(state.sandboxApps(for: id("tester")) == [puzzle, chess])
        #expect(state.sandboxApps(for: id("u1")) == [chess])
        #expect(try project(set(game, .none)).sandboxApps(for: id("tester")).isEmpty)
    }

    @Test(
        "If apps in two stores have the same name, each one's setting decides about its own purchases"
    )
    func sameName() throws {
        let play = AppKey(store: .google, id: game.id)
        let ofApple = transaction("1", "pro", .autoRenewable, at(0), to: at(30)) {
            $0.environment = .sandbox
        }
        var ofGoogle = transaction("2", "pro", .autoRenewable, at(0), to: at(30)) {
            $0.environment = .sandbox
        }
        ofGoogle.store = .google
        let sandbox = CustomerState(
            recording: [facts([ofApple]), facts([ofGoogle])], catalog: Catalog())
        for (counting, other) in [(game, play), (play, game)] {
            let state = try project(set(counting, .all), set(other, .none))
            #expect(state.sandboxApps(for: id("u1")) == [counting])
            let whole = CustomerState().including(
                sandbox, of: state.sandboxApps(for: id("u1")))
            #expect(whole.purchases.map(\.id.store) == [counting.store])
        }
    }

    @Test("A change of an app keeps what it does not name, and can remove its number")
    func change() throws {
        let state = try project(
            {
                try $0.set(
                    game, AppChange(appleID: 7, receipts: .store), of: project, by: .operator)
            },
            set(game, .all))
        #expect(
            state.app(game)
                == App(game, appleID: 7, sandboxAccess: .all, receipts: .store))
        #expect(try state.set(game, AppChange(), of: project, by: .operator).isEmpty)
        #expect(
            try state.set(game, AppChange(appleID: .some(nil)), of: project, by: .operator)
                == [.appSet(App(game, sandboxAccess: .all, receipts: .store))])
    }

    @Test("A key adds what the operator allowed, by name or in general, and changes what exists")
    func allowed() throws {
        func byKey(_ state: ProjectState) throws -> [Event] {
            try state.set(game, AppChange(), of: project, by: .key)
        }
        #expect(throws: Refusal.appNotAllowed(game)) { try byKey(try self.project()) }
        for allowance in [AppAllowance.app(game), .any] {
            let open = try self.project({ try $0.allow(allowance, in: project) })
            #expect(try byKey(open) == [.appSet(App(game))])
            #expect(try open.allow(allowance, in: project).isEmpty)
            let closed = try self.project(
                { try $0.allow(allowance, in: project) },
                { try $0.disallow(allowance, in: project) })
            #expect(throws: Refusal.appNotAllowed(game)) { try byKey(closed) }
            #expect(try closed.disallow(allowance, in: project).isEmpty)
        }
        let other = AppKey(store: .apple, id: id("com.example.puzzle"))
        let elsewhere = try self.project({ try $0.allow(.app(other), in: project) })
        #expect(throws: Refusal.appNotAllowed(game)) { try byKey(elsewhere) }
        // A project may change an app that it got before permissions existed, or before one was withdrawn.
        let had = try self.project({ _ in [.appSet(App(game))] })
        #expect(
            try had.set(game, AppChange(appleID: 7), of: project, by: .key)
                == [.appSet(App(game, appleID: 7))])
    }

    @Test("The operator's own apps are allowed thereby, even without a change")
    func operatorAllows() throws {
        let added = try project().set(game, AppChange(), of: project, by: .operator)
        #expect(added == [.appAllowed(.app(game)), .appSet(App(game))])
        let had = try project({ _ in [.appSet(App(game))] })
        #expect(
            try had.set(game, AppChange(), of: project, by: .operator)
                == [.appAllowed(.app(game))])
        let removed = try project(set(game, .none), { try $0.remove(game) })
        #expect(try removed.set(game, AppChange(), of: project, by: .key) == [.appSet(App(game))])
    }

    @Test("Permissions have a limit, need proper new ids, and need an existing project")
    func allowances() throws {
        #expect(throws: Refusal.projectUnknown(project)) {
            try ProjectState().allow(.any, in: project)
        }
        #expect(throws: Refusal.projectUnknown(project)) {
            try ProjectState().disallow(.any, in: project)
        }
        var state = try project()
        for number in 0..<AppAllowances.countLimit {
            let key = AppKey(store: .apple, id: id("a\(number)"))
            for event in try state.allow(.app(key), in: project) {
                state.apply(event, recordedAt: at(0))
            }
        }
        #expect(throws: Refusal.tooManyAllowedApps(limit: AppAllowances.countLimit)) {
            try state.allow(.app(game), in: project)
        }
        #expect(try state.allow(.any, in: project) == [.appAllowed(.any)])
        let hidden = AppKey(store: .apple, id: id("com\u{AD}.example"))
        #expect(throws: Refusal.self) { try project().allow(.app(hidden), in: project) }
    }

    @Test("A removed app is gone, and cannot be removed twice")
    func removed() throws {
        let state = try project(set(game, .all), { try $0.remove(game) })
        #expect(state.apps.isEmpty)
        #expect(state.sandboxApps(for: id("u1")).isEmpty)
        #expect(throws: Refusal.appUnknown(game.id)) { try state.remove(game) }
    }

    @Test("Apps and listed customers have limits, and the project must exist")
    func limits() throws {
        #expect(throws: Refusal.projectUnknown(project)) {
            try ProjectState().set(game, AppChange(), of: project, by: .operator)
        }
        #expect(throws: Refusal.projectUnknown(project)) {
            try ProjectState().change(SettingsChange { $0.transfer = .transfer }, of: project)
        }
        let names = (0...App.listedCustomerLimit).map { id("u\($0)") as CustomerID }
        #expect(throws: Refusal.tooManyListed(limit: App.listedCustomerLimit)) {
            try project(set(game, .listed(Set(names))))
        }
        _ = try project(set(game, .listed(Set(names.dropLast()))))
        var state = try project()
        for number in 0..<ProjectState.appLimit {
            for event in try state.set(
                AppKey(store: .apple, id: id("a\(number)")), AppChange(), of: project, by: .operator
            ) {
                state.apply(event, recordedAt: at(0))
            }
        }
        #expect(throws: Refusal.tooManyApps(limit: ProjectState.appLimit)) {
            try state.set(game, AppChange(), of: project, by: .operator)
        }
        #expect(
            try state.set(
                AppKey(store: .apple, id: id("a0")), AppChange(receipts: .store), of: project,
                by: .operator
            ).count == 1
        )
    }

    @Test("Restoring follows the rule for submissions until it has its own")
    func restore() throws {
        var state = try project({
            try $0.change(SettingsChange { $0.transfer = .transferIfInactive }, of: project)
        })
        #expect(state.settings.transferPolicy.rule == .transferIfInactive)
        #expect(state.settings.restorePolicy.rule == .transferIfInactive)
        for event in try state.change(SettingsChange { $0.restore = .transfer }, of: project) {
            state.apply(event, recordedAt: at(0))
        }
        #expect(state.settings.transferPolicy.rule == .transferIfInactive)
        #expect(state.settings.restorePolicy.rule == .transfer)
        #expect(try state.change(SettingsChange { $0.restore = .transfer }, of: project).isEmpty)
        let reset = try state.change(SettingsChange { $0.restore = .some(nil) }, of: project)
        #expect(reset == [.projectChanged(ProjectSettings(transfer: .transferIfInactive))])
    }

    @Test("A cool-down is counted in calendar time from the move", arguments: ["PT12H", "P1M"])
    func coolDown(_ text: String) throws {
        let duration = try #require(CalendarDuration(text))
        let state = try project({
            try $0.change(
                SettingsChange { ($0.transfer, $0.coolDown) = (.transfer, duration) }, of: project)
        })
        let purchase = transaction("1", "pro", .autoRenewable, at(0), to: at(90))
        let giver = CustomerState(recording: [facts([purchase])])
        var taker = CustomerState()
        for event in try MovePurchase(
            purchaseID("1"), from: id("anna"), to: id("ben"), cause: .transferred, catalog: shop
        ).decide(from: giver, to: taker, now: at(5)).arriving {
            taker.apply(event)
        }
        let contact = Contact(purchase: purchaseID("1"), named: nil, submitter: id("anna"))
        let end = duration.end(after: at(5))
        func place(_ now: Instant) -> Placement {
            state.settings.transferPolicy.place(
                contact, holder: Holder(id("ben"), taker), catalog: shop, now: now)
        }
        let early = place(end.advanced(byMilliseconds: -1))
        #expect(early.holder == id("ben") && early.refusal == .move(.movedRecently(until: end)))
        #expect(
            place(end)
                == Placement(
                    holder: id("anna"), movingFrom: Placement.Origin(id("ben"), .transferred)))
    }
}

extension SettingsChange {
    fileprivate init(_ change: (inout SettingsChange) -> Void) {
        self.init()
        change(&self)
    }
}
