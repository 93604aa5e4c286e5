import Core
import TestSupport
import Testing

extension BadInputTests {
    /// New names that people could confuse with existing ones.
    static let ids: [BadCall] = [
        BadCall(
            label: "a new customer whose id turns text around",
            target: "/v1/customers/a%E2%80%AEb/grants", code: "id_improper"),
        BadCall(
            label: "a new customer whose id holds a space of no width",
            target: "/v1/customers/a%E2%80%8Bb/balances/coins/adjust",
            body: #"{"amount":1,"reason":"r"}"#, code: "id_improper"),
        BadCall(
            label: "a new customer whose id is not in NFC",
            target: "/v1/customers/e%CC%81/orders", body: "{}", code: "id_improper"),
        BadCall(
            label: "a new entitlement that is not in NFC",
            body: #"{"entitlement":"e\#u{301}","reason":"r"}"#, code: "id_improper"),
        BadCall(
            label: "a new currency with an unassigned character",
            target: "/v1/customers/u1/balances/%CD%B8/adjust",
            body: #"{"amount":1,"reason":"r"}"#, code: "id_improper"),
        BadCall(
            label: "a new order whose id is invisible",
            target: "/v1/customers/u1/orders", body: #"{"order":"\#u{2060}"}"#,
            code: "id_improper"),
        BadCall(
            label: "a new app with a soft hyphen", method: "PUT",
            target: "/v1/apps/com%C2%AD.example", body: "{}", code: "id_improper"),
        BadCall(
            label: "a catalog with a new entitlement of two spellings", method: "PUT",
            target: "/v1/catalog",
            body: #"{"products":[],"entitlements":{"e\#u{301}":{}}}"#,
            code: "catalog_invalid", member: "body"),
        BadCall(
            label: "a ticket that turns text around",
            body: #"{"entitlement":"pro","reason":"r","ticket":"T-\#u{202E}7"}"#,
            member: "ticket"),
    ]

    @Test("Reads accept any id that the log may contain, and reasons accept any script")
    func lenient() throws {
        let service = try TestService()
        let key = try service.key(.admin)
        for id in ["a%E2%80%AEb", "e%CC%81"] {
            let read = service.send("GET", "/v1/customers/\(id)/entitlements", key: key)
            #expect(read.status == 200, "\(read.text)")
        }
        let given = service.send(
            "POST", "/v1/customers/u1/grants", key: key,
            body: #"{"entitlement":"pro","reason":"می\#u{200C}خواهم"}"#)
        #expect(given.status == 201, "\(given.text)")
    }
}
