import Core
import Histories
import Testing

@Suite("Explanations, subscriptions and catalogs")
struct ExplanationTests {
    private let story = CustomerState(recording: [
        facts(
            [
                transaction("1", "plus", .autoRenewable, at(0), to: at(30), signed: at(10)) {
                    $0.isUpgraded = true
                },
                transaction("2", of: "1", "pro", .autoRenewable, at(10), to: at(40)),
                transaction("3", "coins", .consumable, at(1)),
                transaction("4", "solo", .autoRenewable, at(5), to: at(35)) {
                    $0.ownership = .familyShared
                },
            ],
            renewals: [renewal(of: "1", signed: at(40)) { $0.graceUntil = at(46) }])
    ])

    @Test("An answer names its rules, boundaries and facts, and what does not count")
    func explanation() {
        let explanation = story.explanation(of: id("ad_free"), at: at(20), catalog: shop)
        #expect(explanation.answer == story.entitlements(at: at(20), catalog: shop)[id("ad_free")])
        #expect(explanation.reasons.map(\.rule) == [.period, .period, .grace])
        #expect(explanation.reasons.map(\.cut) == [.upgrade, nil, nil])
        #expect(explanation.reasons.map(\.holds) == [false, true, false])
        #expect(
            explanation.reasons.map(\.interval) == [
                Interval(start: at(0), end: at(10)), Interval(start: at(10), end: at(40)),
                Interval(start: at(40), end: at(46)),
            ])
        #expect(explanation.reasons[1].transactions.map(\.transaction) == [id("2")])
        #expect(explanation.reasons[2].renewals.map(\.graceUntil) == [at(46)])
        #expect(explanation.nextChange == at(40))
        #expect(explanation.ignored.map(\.cause) == [.consumable, .familySharingNotAllowed])
    }

    @Test("The answer has what a client needs besides access")
    func row() throws {
        let state = CustomerState(recording: [
            facts(
                [transaction("1", "pro", .autoRenewable, at(0), to: at(30))],
                renewals: [renewal(of: "1", signed: at(5)) { $0.nextProduct = id("plus") }])
        ])
        let answer = try #require(state.entitlements(at: at(6), catalog: shop)[id("pro")])
        #expect(answer.run == Interval(start: at(0), end: at(30)))
        #expect(answer.willRenew)
        #expect(answer.product == id("pro"))
        #expect(answer.nextProduct == id("plus"))
        #expect(answer.kind == .autoRenewable)
        #expect(answer.purchase == purchaseID("1"))
        #expect(answer.expirationReason == nil)
        #expect(answer.grant == nil)
    }

    @Test("A renewal fact about an earlier period says nothing about the newest one")
    func staleRenewal() throws {
        let state = CustomerState(recording: [
            facts(
                [
                    transaction("1", "pro", .autoRenewable, at(0), to: at(30)),
                    transaction("2", of: "1", "pro", .autoRenewable, at(50), to: at(80)),
                ],
                renewals: [
                    renewal(of: "1", signed: at(30), on: false) {
                        $0.expirationIntent = .cancelled
                    }
                ])
        ])
        #expect(
            WorkedExample.text(state.entitlements(at: at(60), catalog: shop)[id("pro")])
                == "yes active 5.0")
    }

    @Test("In a group, the highest level that gives access is current")
    func current() {
        let state = CustomerState(recording: [
            facts([
                transaction("1", "plus", .autoRenewable, at(0), to: at(90)),
                transaction("2", "pro", .autoRenewable, at(0), to: at(30)),
                transaction("3", "solo", .autoRenewable, at(0), to: at(30)),
            ])
        ])
        func current(_ day: Int64) -> [String] {
            state.subscriptions(at: at(day), catalog: shop).filter(\.isCurrent).map(\.product.text)
        }
        #expect(current(29) == ["pro", "solo"])
        #expect(current(30) == ["plus", "solo"])
        #expect(current(90) == ["plus", "solo"])
        #expect(
            state.subscriptions(at: at(30), catalog: shop).map(\.isActive) == [true, false, false])
    }

    @Test("Runs agree with the answers at every boundary")
    func runs() {
        for (entitlement, runs) in story.runs(by: shop) {
            for day in -1...60 {
                let answer = story.entitlements(at: at(Int64(day)), catalog: shop)[entitlement]
                #expect(answer?.isActive == runs.contains { $0.contains(at(Int64(day))) })
            }
        }
    }

    @Test("A catalog change names the differences")
    func changes() {
        let next = catalog(
            [
                product("coins", .consumable(credits: [id("coins"): 120])),
                product("plus", .autoRenewable(group: "membership", level: 1), ["ad_free", "pro"]),
                product("new", .nonConsumable, ["new"]),
            ] + shop.products.filter { !["coins", "plus", "pass"].contains($0.id.text) })
        let changes = next.changes(from: shop)
        func change(_ name: String) -> CatalogChange? {
            changes.first { $0.subject == .product(ProductKey(store: .apple, id: id(name))) }
        }
        #expect(change("coins")?.members == ["credits"])
        #expect(change("plus")?.members == ["entitlements"])
        #expect(change("new")?.kind == .added)
        #expect(change("pass")?.kind == .removed)
        #expect(changes.last?.subject == .originalVersionRules)
        #expect(changes.count == 5)
        #expect(next.changes(from: next).isEmpty)
    }

    @Test("A catalog change shows who would gain and lose what")
    func gains() {
        let state = CustomerState(recording: [
            facts([transaction("1", "pro", .autoRenewable, at(0), to: at(30))])
        ])
        let next = catalog([
            product("pro", .autoRenewable(group: nil, level: 1), ["pro", "bonus"])
        ])
        let change = state.accessChange(from: shop, to: next, now: at(30, -1))
        #expect(change.gained == [id("bonus")])
        #expect(change.lost == [id("ad_free")])
        #expect(state.accessChange(from: shop, to: next, now: at(30)).isEmpty)
    }

    @Test("A project's catalog is versioned by its events")
    func catalogVersions() throws {
        var project = ProjectState()
        #expect(throws: Refusal.projectUnknown(id("p"))) {
            try project.change(to: shop, of: id("p"))
        }
        project.apply(.projectCreated(ProjectCreated(project: id("p"))), recordedAt: at(0))
        for event in try project.change(to: shop, of: id("p")) {
            project.apply(event, recordedAt: at(0))
        }
        #expect(project.catalog == shop)
        #expect(project.catalogVersion == 1)
        #expect(try project.change(to: shop, of: id("p")).isEmpty)
    }

    @Test("An erased customer has nothing")
    func erased() {
        var state = story
        state.apply(.customerErased(CustomerErased(reason: id("asked"), ticket: nil)))
        #expect(state.isErased)
        #expect(state.entitlements(at: at(20), catalog: shop).all.isEmpty)
        #expect(state.version == story.version + 1)
    }
}
