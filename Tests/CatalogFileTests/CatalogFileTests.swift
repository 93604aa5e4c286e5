import CatalogFile
import Core
import Foundation
import JSON
import Testing

@Suite("Catalog files")
struct CatalogFileTests {
    static let example = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/examples/catalog.json")

    @Test("The example catalog has all four kinds and nothing unknown")
    func example() throws {
        let bytes = [UInt8](try Data(contentsOf: Self.example))
        let contents = try CatalogFile.read(bytes: bytes)
        #expect(contents.warnings.isEmpty)
        #expect(Set(contents.catalog.products.map(\.kind)) == Set(ProductKind.allCases))
        #expect(contents.catalog.currencies.map(\.text) == ["coins", "gems"])
        #expect(contents.catalog.entitlements.count == 5)
        #expect(contents.catalog.originalVersionRules.map(\.below) == ["2.0"])
    }

    @Test("A written catalog reads back the same, and is written the same again")
    func roundTrip() throws {
        let catalog = try CatalogFile.read(bytes: [UInt8](try Data(contentsOf: Self.example)))
            .catalog
        let written = CatalogFile.json(catalog)
        let again = try CatalogFile.read(written).catalog
        #expect(again == catalog)
        #expect(CatalogFile.json(again).text == written.text)
    }

    @Test("Products and members in another order are the same catalog")
    func order() throws {
        let one = try CatalogFile.read(
            JSON.read(
                #"""
                {"products":[{"id":"b","kind":"non_consumable","entitlements":["y","x"]},
                {"id":"a","store":"google","kind":"non_renewing","duration":"P1M",
                "entitlements":["x"]}]}
                """#))
        let other = try CatalogFile.read(
            JSON.read(
                #"""
                {"original_app_version":[],"products":[{"entitlements":["x"],"kind":"non_renewing",
                "duration":"P1M","stacking":"extend","id":"a","store":"google","family_shared":true},
                {"entitlements":["x","y"],"kind":"non_consumable","id":"b","store":"apple"}]}
                """#))
        #expect(one.catalog == other.catalog)
    }

    @Test("All problems are reported together, each with its path")
    func problems() throws {
        let json = try JSON.read(
            #"""
            {"products":[
              {"id":"a","kind":"consumable","credits":{"coins":0,"gems":"5"}},
              {"id":"a","kind":"non_consumable","entitlements":[]},
              7,
              {"id":"","kind":"non_renewing","entitlements":["x"],"stacking":"heap"},
              {"id":"c","kind":"non_renewing","duration":"3 months","entitlements":["x",1]},
              {"kind":"auto_renewable","level":0,"entitlements":["x"],"family_shared":"yes"},
              {"id":"d","kind":"lifetime"},
              {"id":"e","kind":"auto_renewable","level":0,"entitlements":["x"],"store":"steam"},
              {"id":"f","kind":"auto_renewable","level":0,"entitlements":["x"]},
              {"id":"g","kind":"consumable","entitlements":["x"]}],
             "entitlements":{"pro":{"title":3}},
             "currencies":[],
             "original_app_version":[{"below":"two","entitlements":[]},{"entitlements":["x"]}]}
            """#)
        let error = #expect(throws: InvalidCatalog.self) { try CatalogFile.read(json) }
        #expect(
            Set(error?.problems.map(\.path) ?? []) == [
                "products[0].credits.coins", "products[0].credits.gems", "products[1].id",
                "products[1].entitlements", "products[2]", "products[3].id",
                "products[3].duration", "products[3].stacking", "products[4].duration",
                "products[4].entitlements[1]", "products[5].id", "products[5].family_shared",
                "products[5].level", "products[7].level",
                "products[6].kind", "products[7].store", "products[8].level",
                "products[9].credits", "products[9].entitlements", "entitlements.pro.title",
                "currencies", "original_app_version[0].below",
                "original_app_version[0].entitlements", "original_app_version[1].below",
            ])
    }

    @Test(
        "An impossible number is reported with its range, and is the only problem",
        arguments: [
            ("9007199254740992", "is out of range"), ("0", "is out of range"),
            ("99999999999999999999", "is out of range"),
            ("-99999999999999999999", "is out of range"),
            ("1.5", "is 1.5"), ("1e400", "is 1e400"), (#""5""#, "is a string"),
        ])
    func numbers(_ amount: String, _ words: String) {
        let file = #"{"products":[{"id":"a","kind":"consumable","credits":{"coins":\#(amount)}}]}"#
        let error = #expect(throws: InvalidCatalog.self) {
            try CatalogFile.read(bytes: Array(file.utf8))
        }
        #expect(
            error?.description
                == "products[0].credits.coins \(words); write a whole number from 1 to 9007199254740991"
        )
    }

    @Test("A level that does not fit 64 bits is reported with its range")
    func levels() {
        let file = """
            {"products":[{"id":"a","kind":"auto_renewable","level":99999999999999999999,"entitlements":["x"]}]}
            """
        let error = #expect(throws: InvalidCatalog.self) {
            try CatalogFile.read(bytes: Array(file.utf8))
        }
        #expect(
            error?.description
                == "products[0].level is out of range; write a whole number from 1 to "
                + "9223372036854775807")
    }

    @Test("If the only entitlement is refused, its list is not reported as empty too")
    func refusedNotEmpty() {
        let file = """
            {"products":[{"id":"a","kind":"non_consumable","entitlements":[7]},
            {"id":"b","kind":"consumable","credits":[]}],"original_app_version":[{"entitlements":[""]}]}
            """
        let error = #expect(throws: InvalidCatalog.self) {
            try CatalogFile.read(bytes: Array(file.utf8))
        }
        #expect(
            error?.problems.map(\.path) == [
                "products[0].entitlements[0]", "products[1].credits",
                "original_app_version[0].entitlements[0]", "original_app_version[0].below",
            ])
    }

    @Test(
        "Text that is no catalog at all is refused",
        arguments: [
            ("[]", "it is an array"), ("{}", "products is missing"), ("{", "it is not JSON"),
            (#"{"products":{}}"#, "products is an object"),
        ])
    func notACatalog(_ text: String, _ sentence: String) {
        let error = #expect(throws: InvalidCatalog.self) {
            try CatalogFile.read(bytes: Array(text.utf8))
        }
        #expect(error?.description.hasPrefix(sentence) == true)
    }

    private static let odd = #"""
        {"products":[{"id":"a","kind":"non_consumable","entitlements":["x"],
        "family_share":false,"duration":"P1M"}],"version":3}
        """#

    @Test("An unknown member is an error that names the nearest one")
    func unknownMembers() throws {
        let error = #expect(throws: InvalidCatalog.self) {
            try CatalogFile.read(bytes: Array(Self.odd.utf8))
        }
        #expect(
            error?.problems.map(\.path) == [
                "version", "products[0].family_share", "products[0].duration",
            ])
        #expect(error?.description.contains(#"the nearest is "family_shared""#) == true)
    }

    @Test("A catalog in the log is readable whatever members a later release added")
    func recorded() throws {
        #expect(try CatalogFile.recorded(JSON.read(Self.odd)).products.count == 1)
    }

    @Test("A catalog in the log is readable with whatever titles it has")
    func recordedTitles() throws {
        let title = String(repeating: "x", count: 300) + "\u{0}"
        let json: JSON = ["products": [], "currencies": ["coins": ["title": .string(title)]]]
        #expect(try CatalogFile.recorded(json).currencyTitles.values.first == title)
        #expect(throws: InvalidCatalog.self) { try CatalogFile.read(json) }
    }

    @Test("Repeated and missing parts of a product are reported with its other problems")
    func fragments() throws {
        let json = try JSON.read(
            #"""
            {"products":[
              {"id":"a","kind":"non_renewing","entitlements":[]},
              {"id":"a","kind":"non_consumable","entitlements":["x"]},
              {"id":"a","kind":"lifetime"},
              {"kind":"auto_renewable","level":0,"entitlements":["x"]}],
             "original_app_version":[{"entitlements":[]}]}
            """#)
        let error = #expect(throws: InvalidCatalog.self) { try CatalogFile.read(json) }
        #expect(
            Set(error?.problems.map(\.path) ?? []) == [
                "products[0].duration", "products[0].entitlements", "products[1].id",
                "products[2].kind", "products[2].id", "products[3].id", "products[3].level",
                "original_app_version[0].below", "original_app_version[0].entitlements",
            ])
    }

    @Test(
        "Undeclared names cause warnings if others are declared, and so do repeated ones"
    )
    func warnings() throws {
        func warnings(_ titles: String) throws -> [String] {
            let json = try JSON.read(
                #"{"products":[{"id":"a","kind":"non_consumable","entitlements":["por","por"]}]"#
                    + titles + "}")
            return try CatalogFile.read(json).warnings.map(\.description)
        }
        let repeated = #"products[0].entitlements[1] repeats "por"; name it once"#
        #expect(try warnings("") == [repeated])
        #expect(
            try warnings(#","entitlements":{"pro":{},"gold":{}}"#) == [
                repeated,
                #"entitlements does not declare "por"; declare it, or correct it where it is used "#
                    + #"(the nearest declared name is "pro")"#,
            ])
        #expect(try warnings(#","entitlements":{"por":{}}"#) == [repeated])
    }
}
