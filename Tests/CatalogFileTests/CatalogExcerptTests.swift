import CatalogFile
import Core
import Histories
import JSON
import Testing

/// Tests that Deed reads only the relevant parts of earlier catalogs.
@Suite("Excerpts of catalogs")
struct CatalogExcerptTests {
    @Test("A customer's rights and boundaries are the same by a catalog of what was bought")
    func same() throws {
        for seed in 0..<300 as Range<UInt64> {
            let bought = CustomerState(
                recording: RandomHistory(seed: seed).facts.map { AnyFact.facts([$0]) },
                catalog: bazaar)
            try expectSame(bought, bazaar, "seed \(seed)")
            let played = CustomerState(
                recording: PlayLife(seed: seed).readings.map { facts([$0]) }, catalog: playShop)
            try expectSame(played, playShop, "play seed \(seed)")
        }
    }

    private func expectSame(_ state: CustomerState, _ whole: Catalog, _ name: String) throws {
        let excerpt = try #require(
            CatalogFile.excerpt(of: CatalogFile.json(whole).bytes, for: state.products))
        let bought = state.products.filter { whole.product($0) != nil }
        #expect(bought.isSubset(of: excerpt.products.map(\.key)), "\(name)")
        for narrowed in [excerpt, whole.narrowed(to: state.products)] {
            #expect(state.runs(by: narrowed) == state.runs(by: whole), "\(name)")
            #expect(
                state.boundaries(after: .distantPast, by: narrowed)
                    == state.boundaries(after: .distantPast, by: whole), "\(name)")
            for day in stride(from: 0, through: 400, by: 20) as StrideThrough<Int64> {
                #expect(
                    state.entitlements(at: at(day), catalog: narrowed)
                        == state.entitlements(at: at(day), catalog: whole), "\(name), day \(day)")
            }
        }
    }

    @Test("An excerpt has exactly the named products, whatever the texts hold")
    func exact() throws {
        let odd = [#"a"b"#, #"a\"#, "{", "}]", #"{"id":"x"}"#, "x", "ü"]
        var draft = CatalogDraft()
        draft.products = odd.map {
            product($0, .autoRenewable(group: #"}"{\"#, level: 1), [$0])
        }
        draft.entitlementTitles = [id("x"): #""}],"entitlements":{"#]
        draft.endingSoon = [id("x"): duration("P3D")]
        let whole = try draft.validated()
        let content = CatalogFile.json(whole).bytes
        for names in [[], [odd[0]], ["x"], odd, Array(odd.suffix(3))] {
            let keys = Set(names.map { ProductKey(store: .apple, id: id($0)) })
            let excerpt = try #require(CatalogFile.excerpt(of: content, for: keys))
            #expect(Set(excerpt.products.map(\.key)) == keys)
            #expect(excerpt.endingSoon == whole.endingSoon)
            #expect(excerpt.products == whole.narrowed(to: keys).products)
        }
        for bytes in ["", "{}", #"{"products":[{"kind":"consumable"}]}"#, #"{"products":[{"id":"#] {
            #expect(CatalogFile.excerpt(of: Array(bytes.utf8), for: []) == nil)
        }
    }
}
