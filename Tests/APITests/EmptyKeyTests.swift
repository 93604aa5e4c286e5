import JSON
import TestSupport
import Testing

@Suite("A call without a key")
struct EmptyKeyTests {
    @Test(
        "A header with Bearer alone gets the answer that its key is empty",
        arguments: [
            ("Bearer", true), ("bearer ", true), ("Bearer \t ", true), ("Basic dTpw", false),
            ("", false),
        ])
    func emptyBearer(value: String, isEmptyBearer: Bool) throws {
        let service = try TestService()
        let reply = service.send(
            "GET", "/v1/customers/u1/entitlements", headers: [("Authorization", value)])
        #expect(reply.status == 401)
        #expect(try reply.json["code"] == "key_missing")
        let detail = try reply.json["detail"]?.string ?? ""
        #expect(detail.contains("a variable is empty") == isEmptyBearer, "\(detail)")
        #expect(detail.contains("Authorization: Bearer deed_<role>_"))
    }
}
