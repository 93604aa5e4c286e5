import Core
import Foundation
import JSON
import Testing

@testable import Delivery

@Suite("Examples that are sent")
struct ExampleTests {
    private static let page: String = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let url = root.appending(path: "docs/events.md")
        return (try? String(contentsOf: url, encoding: .utf8)) ?? ""
    }()

    @Test("Each is the one of its page", arguments: FeedTypes.customerTypes)
    func documented(_ type: String) throws {
        let section = try #require(
            ExampleTests.page.components(separatedBy: "\n### \(type)\n").dropFirst().first)
        let example = section.components(separatedBy: "```json\n")[1]
            .components(separatedBy: "\n```")[0]
        #expect(try JSON.read(example) == exampleEvents[type])
    }

    @Test(
        "An example of a change of access has that change",
        arguments: ["started", "changed", "ended"])
    func changes(_ kind: String) throws {
        let now = Instant(milliseconds: 1_795_202_460_000)
        let item = try JSON.read(exampleData("test-1", "entitlement.\(kind)", .production, now))
        #expect(item["change"]?["change"]?.string == kind)
        #expect(item["access"]?.array?.first == item["change"])
    }
}
