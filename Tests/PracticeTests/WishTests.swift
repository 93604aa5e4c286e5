import Core
import JSON
import Practice
import Testing

@Suite("Wishes that the practice store refuses, and those about shares", .timeLimit(.minutes(2)))
struct WishTests {
    private func store() throws -> PracticeStore {
        let store = PractisedStore(PracticeWorld(.example, from: opening, seed: 9)).store
        for product in ["level2", "coins.100", "pro.month"] {
            _ = try store.perform(Step(.buy, customer: "ada", product: product))
        }
        return store
    }

    private func standings(_ store: PracticeStore, _ customer: String) -> [String: [String]] {
        store.read { world in
            Dictionary(grouping: world.standings(of: customer), by: \.product)
                .mapValues { $0.map(\.word) }
        }
    }

    private func step(
        _ act: Step.Act, _ product: String, with member: String? = nil
    ) -> Step {
        Step(act, customer: "ada", product: product).changed { $0.with = member }
    }

    @Test(
        "A step about one product is done to no other one",
        arguments: [
            (Step.Act.cancel, "coins.100"), (.cancel, "nonsense"), (.resume, "nonsense"),
            (.refund, "nonsense"), (.unshare, "nonsense"), (.unshare, "level2"),
            (.change, "level2"),
        ])
    func otherProduct(act: Step.Act, product: String) throws {
        let store = try store()
        _ = try store.perform(step(.share, "pro.month", with: "ben"))
        let before = store.read { $0.sales(of: "ada").map(\.changed) }
        #expect(throws: PracticeError.self) {
            try store.perform(step(act, product, with: act == .unshare ? "ben" : nil))
        }
        #expect(store.read { $0.sales(of: "ada").map(\.changed) } == before)
        #expect(standings(store, "ben") == ["pro.month": ["active"]])
        #expect(store.read { $0.subscriptions(of: "ada").map(\.willRenew) } == [true])
    }

    @Test(
        "What a family shares ends with a refund and comes back with its reversal",
        arguments: ["level2", "pro.month"])
    func shared(_ product: String) throws {
        let store = try store()
        _ = try store.perform(step(.share, product, with: "ben"))
        #expect(throws: PracticeError.self) {
            try store.perform(step(.share, product, with: "ben"))
        }
        #expect(standings(store, "ben") == [product: ["active"]])
        _ = try store.perform(step(.refund, product))
        #expect(standings(store, "ben") == [product: ["revoked"]])
        _ = try store.perform(step(.reverse, product))
        #expect(standings(store, "ben") == [product: ["active"]])
        let types = store.read { world in
            world.postings.filter { $0.customer == "ben" }.map(\.type)
        }
        #expect(types.suffix(2) == ["REVOKE", "REFUND_REVERSED"])
        _ = try store.perform(step(.unshare, product, with: "ben"))
        #expect(standings(store, "ben") == [product: ["revoked"]])
        #expect(standings(store, "ada")[product] == ["active"])
        // It may be shared again, as something new.
        _ = try store.perform(step(.share, product, with: "ben"))
        #expect(standings(store, "ben")[product]?.sorted() == ["active", "revoked"])
    }
}
