import JSON
import TestSupport
import Testing

@Suite("Settings and apps on the command line")
final class SettingsCommandTests {
    private let database: ScratchDatabase
    private let deed: Installation

    init() throws {
        database = try ScratchDatabase()
        deed = try Installation(database)
    }

    @Test("An app is set, changed flag by flag, listed and removed")
    func app() throws {
        #expect(try deed.run("app", "set", "--bundle-id", "a").code == 1)
        #expect(try deed.run("project", "create", "default").code == 0)
        #expect(
            try deed.run("app", "list").output
                == "There is no app yet; add one with: deed app set --bundle-id com.example.game\n")
        let set = try deed.run(
            "app", "set", "--bundle-id", "com.example.game", "--apple-id", "1234567890",
            "--sandbox-access", "all")
        #expect(
            set.output
                == "com.example.game   apple id 1234567890   sandbox purchases count for all customers   "
                + "receipts are judged by Deed\n")
        let changed = try deed.run(
            "app", "set", "--bundle-id", "com.example.game", "--sandbox-customers", "b,a",
            "--receipts", "store", "--json")
        let app =
            #"{"store":"apple","bundle_id":"com.example.game","apple_id":1234567890,"#
            + #""sandbox_access":"listed","sandbox_customers":["a","b"],"receipts":"store","#
            + #""credentials":{"api_key":false,"shared_secret":false,"store_url":null}}"#
        #expect(changed.output == #"{"project":"default","app":\#(app)}"# + "\n")
        #expect(
            try deed.run("app", "list", "--json").output
                == #"{"project":"default","apps":[\#(app)]}"# + "\n")
        let removed = try deed.run("app", "remove", "--bundle-id", "com.example.game")
        #expect(
            removed.output == "The project default no longer has the app com.example.game.\n")
        let again = try deed.run("app", "remove", "--bundle-id", "com.example.game", "--json")
        #expect(again.code == 1)
        #expect(try JSON.read(again.errors)["error"]?["code"]?.string == "app_unknown")
    }

    @Test("Settings are shown, and changed flag by flag")
    func settings() throws {
        #expect(try deed.run("project", "show").code == 1)
        #expect(try deed.run("project", "create", "default").code == 0)
        let set = try deed.run(
            "project", "set", "--transfer", "transfer", "--restore", "keep", "--cool-down", "PT1H")
        #expect(set.code == 0)
        #expect(
            try deed.run("project", "show").output == """
                project          default
                transfer         transfer
                restore          keep
                cool-down        PT1H
                order lifetime   P7D
                credit limits    none
                support limits   none
                refund reports   off
                per account      3 customers
                merge            staff
                apps             none
                allowed apps     none

                """)
        #expect(
            try deed.run("project", "set", "--restore", "as-transfer", "--json").output
                == #"{"project":"default","settings":{"transfer":"transfer","restore":null,"#
                + #""cool_down":"PT1H","order_lifetime":"P7D","credit_limits":{},"refund_reports":null,"customers_per_account":3,"support_limits":{},"merge":"staff"}}"#
                + "\n")
    }

    @Test("The limit of customers per store account is a number, or none")
    func perAccount() throws {
        #expect(try deed.run("project", "create", "default").code == 0)
        for (value, expected) in [
            ("1", JSON.integer(1)), ("none", .null), ("1000", .integer(1000)),
        ] {
            let set = try deed.run("project", "set", "--customers-per-account", value, "--json")
            #expect(try set.json["settings"]?["customers_per_account"] == expected)
        }
        let shown = try deed.run("project", "show").output
        #expect(shown.contains("per account      1000 customers\n"))
    }

    @Test(
        "Support's limits are set and taken back, and a name that nothing has is refused with the nearest"
    )
    func supportLimits() throws {
        #expect(try deed.run("project", "create", "default").code == 0)
        let folder = try ScratchFolder()
        let catalog = try folder.write(
            #"{"products":[],"entitlements":{"pro":{"title":"Pro"}}}"#, to: "catalog.json")
        #expect(try deed.run("catalog", "apply", catalog).code == 0)
        func limits(_ text: String) throws -> String? {
            try deed.run("project", "set", "--support-limit", text, "--json")
                .json["settings"]?["support_limits"]?.text
        }
        #expect(try limits("pro=P30D,*=P7D") == #"{"*":"P7D","pro":"P30D"}"#)
        #expect(try limits("*=none") == #"{"pro":"P30D"}"#)
        let unknown = try deed.run("project", "set", "--support-limit", "prO=P1D", "--json")
        let error = try JSON.read(unknown.errors)["error"]
        #expect(unknown.code == 1 && error?["code"] == "entitlement_unknown")
        #expect(error?.text.contains(#"\"pro\""#) == true, "\(unknown.errors)")
        let zero = try deed.run("project", "set", "--support-limit", "pro=P0D", "--json")
        #expect(try zero.code == 2 && JSON.read(zero.errors)["error"]?["code"] == "usage")
        let shown = try deed.run("project", "show").output
        #expect(shown.contains("support limits   pro=P30D\n"), "\(shown)")
    }

    @Test("Permissions to add apps are given, listed and withdrawn; a set app is allowed")
    func allowing() throws {
        #expect(try deed.run("project", "allow-app", "com.example.game").code == 1)
        #expect(try deed.run("project", "create", "default").code == 0)
        func answer(_ arguments: String...) throws -> String {
            try deed.run(["project"] + arguments + ["--json"]).output
        }
        #expect(
            try answer("allow-app", "com.example.game")
                == #"{"project":"default","allowed_apps":{"any":false,"bundle_ids":["com.example.game"]}}"#
                + "\n")
        #expect(
            try deed.run("project", "allow-app", "--any").output
                == "Admin keys of the project default may add: any, com.example.game\n")
        #expect(try deed.run("app", "set", "--bundle-id", "com.example.chess").code == 0)
        let shown = try JSON.read(answer("show"))
        #expect(
            shown["allowed_apps"]?.text
                == #"{"any":true,"bundle_ids":["com.example.chess","com.example.game"]}"#)
        _ = try answer("disallow-app", "--any")
        #expect(
            try answer("disallow-app", "com.example.game")
                == #"{"project":"default","allowed_apps":{"any":false,"bundle_ids":["com.example.chess"]}}"#
                + "\n")
        let types = try database.text(
            "select string_agg(type, ' ' order by version) from deed.events where customer like '$project%'"
        )
        #expect(
            types == "project.created app.allowed app.allowed app.allowed app.set app.disallowed "
                + "app.disallowed")
        #expect(try deed.run("audit").code == 0)
    }

    @Test("Over HTTP an app is refused until the operator allows it, on other instances too")
    func allowingOverHTTP() throws {
        #expect(try deed.run("project", "create", "default").code == 0)
        let key = try deed.makeKey()
        let services = [try deed.serve(), try deed.serve()]
        func add(_ service: RunningService) throws -> String {
            var client = try APIClient(key: key)
            let answer = try client.send(
                "PUT", "\(service.url)/v1/apps/com.example.game", body: "{}")
            return "\(answer.status) " + (try JSON.read(answer.text)["code"]?.string ?? "")
        }
        #expect(try services.map(add) == ["403 app_not_allowed", "403 app_not_allowed"])
        #expect(try deed.run("project", "allow-app", "com.example.game").code == 0)
        #expect(try services.map(add) == ["200 ", "200 "])
    }

    @Test(
        "Wrong usage ends with 2 and says what is wrong",
        arguments: [
            ["app", "set"], ["app", "set", "--bundle-id", ""], ["app"],
            ["app", "set", "--bundle-id", "a", "--apple-id", "0"],
            ["app", "set", "--bundle-id", "a", "--sandbox-access", "some"],
            ["app", "set", "--bundle-id", "a", "--sandbox-access", "listed"],
            [
                "app", "set", "--bundle-id", "a", "--sandbox-access", "all", "--sandbox-customers",
                "b",
            ],
            ["app", "set", "--bundle-id", "a", "--receipts", "apple"], ["app", "remove"],
            ["project", "set"], ["project", "set", "--transfer", "share"],
            ["project", "set", "--restore", "none"],
            ["project", "set", "--refund-preference", "decline"],
            ["project", "set", "--customers-per-account", "0"],
            ["project", "set", "--customers-per-account", "1001"],
            ["project", "set", "--customers-per-account", "null"],
            ["project", "set", "--refund-reports", "off", "--refund-sample"],
            ["project", "set", "--refund-reports", "maybe"],
            ["project", "set", "--support-limit", "pro=PT0S"],
            ["project", "set", "--support-limit", "pro"],
            ["project", "set", "--cool-down", "1d"], ["project", "allow-app"],
            ["project", "allow-app", "a", "--any"], ["project", "disallow-app"],
            ["project", "disallow-app", "a", "b"],
        ])
    func usage(_ arguments: [String]) throws {
        try deed.expectUsage(of: arguments)
    }

    @Test(
        "Each command explains itself",
        arguments: [
            "app set", "app list", "app remove", "project set", "project show",
            "project allow-app", "project disallow-app",
        ])
    func help(_ command: String) throws {
        try deed.expectHelp(of: command)
    }
}
