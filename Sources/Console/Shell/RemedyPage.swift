import API
import Core

extension Remedy {
    /// Returns the page on which a person can apply the remedy, with the words of its link, or `nil` if the console has
    /// no such page.
    fileprivate func page(in room: ProjectRoom) -> (path: String, place: Place, words: String)? {
        switch self {
        case .correctName: ("/catalog", room.catalog, "Look at the catalog")
        case .listKeys: ("/keys", room.settings, "All keys")
        case .listApps: ("/settings", room.settings, "All apps")
        case .listWebhooks: ("/webhooks", room.webhooks, "All webhooks")
        case .findCustomer: ("/find", room.find, "Find the customer")
        case .listUnclaimed: ("/unclaimed", room.unclaimed, "Purchases without a customer")
        case .inspectQueue: ("/intake", room.intake, "All queued evidence")
        case .createProject, .replaceKey, .giveLaterEnd, .shortenOverlap, .removeAppThere,
            .askToAllowApp, .withdrawAllowance, .setStoreKey, .restoreStoreKey, .useStoreHere,
            .removeStoreAddress, .allowCredits, .allowSupportGrants, .allowMerges,
            .allowMoreCustomersPerAccount, .allowPlainAddress, .allowPrivateAddress, .showCustomer,
            .listNotes, .listOrders, .separateTokens, .showErasure, .listErasures, .exportToFile,
            .giveVersions, .migrate, .installMigratingRelease, .useMigratingRelease, .startAnew,
            .createServiceRole, .admitServiceLogin, .raiseFormat, .acceptLoss, .acceptServer,
            .keepRecord, .inspectRows, .repairRows, .moveEventAside, .createTestClock,
            .listReconciliations, .requestRemainingHistories, .requestHistories, .readHistories,
            .resetSecondFactor:
            nil
        }
    }
}

extension Problem {
    /// Returns what is wrong, with a link to the page that helps. Without such a page, states the remedy as the API
    /// does.
    func told(in room: ProjectRoom?) -> Markup {
        switch code {
        case "route_unknown": "There is no such page."
        case "method_not_allowed": "This page does not accept that request."
        case "role_insufficient": "Your role does not permit this."
        case "customer_changed_meanwhile":
            "The customer has changed since you looked. Look again before you decide."
        case "ticket_missing":
            "Your role requires a ticket: enter the support case in the field Ticket."
        default:
            if let room, let refusal, let page = refusal.remedy?.page(in: room),
                room.maySee(page.path)
            {
                "\(refusal.sentence) \(Markup.link(page.place, page.words))"
            } else {
                "\(detail)"
            }
        }
    }
}
