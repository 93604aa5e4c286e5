import Practice

extension PracticeTool {
    /// What one command takes; `nil` where there is no such command.
    static func help(of name: String) -> String? {
        if let usage = usages[name] {
            return "usage: deed-practice \(usage.words)\n\n\(usage.sentence)\n\n\(general)"
        }
        guard let act = Step.Act.allCases.first(where: { dashed($0.rawValue) == name }) else {
            return nil
        }
        let usage = act.usage
        let isForAll = act == .raisePrice || act == .withdraw || act == .testNotification
        let whom = isForAll ? "" : "--customer NAME"
        let words = [name, whom, usage.words, "[--json] [--store URL]"]
        let line = words.filter { !$0.isEmpty }.joined(separator: " ")
        return "usage: deed-practice \(line)\n\n\(usage.sentence)\n\n\(general)"
    }

    private static let general = "All commands: deed-practice --help"

    fileprivate struct Usage {
        let words: String
        let sentence: String

        init(_ words: String, _ sentence: String) {
            self.words = words
            self.sentence = sentence
        }
    }

    private static let usages: [String: Usage] = [
        "serve": Usage(
            """
            serve --data-dir FOLDER [--listen 127.0.0.1:9090] [--notify URL]
                       [--clock INSTANT] [--pace calendar|sandbox|5m] [--seed NUMBER]
                       [--service-url URL --service-key FILE]
            """, "Runs the store until it receives a signal to stop."),
        "roots": Usage(
            "roots --data-dir FOLDER",
            "Makes the folder with the roots that Deed must trust, unless they are there."),
        "advance": Usage(
            "advance LENGTH|INSTANT [--json] [--store URL]",
            "Moves the store's clock forward by a length like 40d, 12h or 90s, or to an instant like\n"
                + "2026-03-01T00:00:00Z, and does everything on the way. Deed's clock follows only where the\n"
                + "store was started with --service-url."),
        "show": Usage(
            "show [--customer NAME] [--json] [--store URL]",
            "Shows what was bought, how it stands, and what was notified."),
        "restore": Usage(
            "restore --customer NAME [--json] [--store URL]",
            "Prints what an app hands over on a new phone: all of it, and a refreshed receipt."),
        "lives": Usage(
            "lives run FILE [--no-jump] [--json] [--store URL]",
            "Runs the lives of a scenario file; see docs/practice-store.md."),
        "trouble": Usage(
            "trouble JSON [--json] [--store URL]",
            "Says what goes wrong from now on, like '{\"drop\":0.1,\"seed\":7}'; '{}' ends it."
        ),
    ]
}

extension Step.Act {
    /// What comes behind the customer, and what it does.
    fileprivate var usage: PracticeTool.Usage {
        let which = "[--product ID] [--transaction ID]"
        return switch self {
        case .install: .init("[--version V]", "Installs the app, as version V at first.")
        case .buy:
            .init(
                "--product ID [--offer ID] [--quantity N] [--token UUID] [--ask]",
                "Buys a product of shop.json. With --ask the purchase waits for a parent.")
        case .cancel: .init(which, "Has a subscription not renew any more.")
        case .resume: .init(which, "Has a cancelled subscription renew again.")
        case .change:
            .init(
                "--product ID [--offer ID]",
                "Changes to a product of the same group: up at once, down with the next period.")
        case .refund:
            .init(
                "\(which) [--percent N] [--prorated] [--for-app]",
                "Refunds a transaction: the newest one, unless another is named.")
        case .reverse: .init(which, "Takes a refund back.")
        case .requestRefund:
            .init(
                "\(which) [--reason WORD]",
                "Has the store ask the back end about a refund that the customer wants.")
        case .declineRefund: .init(which, "Has the store decline that.")
        case .failBilling: .init("", "Has payments of the customer fail from now on.")
        case .fixBilling: .init("", "Has them succeed again, and collects what is open.")
        case .extend: .init("--days N \(which)", "Extends a subscription.")
        case .share: .init("--with NAME \(which)", "Shares a purchase with a family member.")
        case .unshare:
            .init("[--with NAME] \(which)", "Ends a share: that member's, or everyone's.")
        case .approve: .init("", "A parent agrees to the purchases that wait.")
        case .decline: .init("", "A parent declines the purchases that wait.")
        case .raisePrice:
            .init(
                "--product ID --price N [--needs-consent]",
                "Raises what renewals of a product cost, in thousandths.")
        case .consent: .init(which, "The customer agrees to a higher price.")
        case .withdraw: .init("--product ID", "Sells a product no more; it does not renew.")
        case .setToken:
            .init("--token UUID \(which)", "Has a purchase carry that account token from now on.")
        case .finish: .init(which, "The app finishes a transaction.")
        case .rescindConsent: .init("", "A parent withdraws the consent to the app.")
        case .testNotification: .init("", "Sends a test notification.")
        }
    }
}
