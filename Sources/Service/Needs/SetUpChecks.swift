import Core

extension ProjectCheck {
    static let keys = ProjectCheck("no_key", "keys of each project") { sight in
        if sight.state.keys.contains(where: { $0.revokedAt == nil }) { return [] }
        return [
            Finding(
                sentence: "The project \(sight.project) has no key, so nothing can call it.",
                remedy: "Make a key for its back end.",
                commands: ["deed key create --role backend\(sight.projectFlag)"])
        ]
    }

    static let catalog = ProjectCheck("no_catalog", "the catalog of each project", isWrong: true) {
        sight in
        if sight.state.apps.isEmpty || !sight.state.catalog.products.isEmpty { return [] }
        return [
            Finding(
                sentence:
                    "The project \(sight.project) has an app and no products, so purchases unlock nothing.",
                remedy: "Write the products into a file, and apply it.",
                commands: ["deed catalog apply catalog.json\(sight.projectFlag)"])
        ]
    }

    static let credentials = ProjectCheck(
        "app_without_credentials", "credentials of each app"
    ) { sight in
        sight.state.apps.filter { sight.credentials[$0.key]?.hasKey != true }.map { app in
            let loss =
                sight.sending.contains(app.key.store)
                ? "missed notifications stay missed" : "no purchase in it counts"
            return Finding(
                sentence:
                    "The app \(app.key.id) of \(sight.project) has no key for its store, so Deed asks the store "
                    + "nothing: \(loss).",
                remedy: "Make a key in the store's console, and set it with deed app set "
                    + "\(sight.flags(of: app.key)), whose --help names the flags of a key.")
        }
    }

    static let notifications = ProjectCheck(
        "app_without_notifications", "notifications about each app"
    ) { sight in
        sight.state.apps.filter {
            sight.sending.contains($0.key.store) && !sight.heard.contains($0.key)
        }.map { app in
            Finding(
                sentence:
                    "No notification about the app \(app.key.id) of \(sight.project) has come yet.",
                remedy:
                    "Enter the address of /v1/stores/\(app.key.store.rawValue)/notifications in the store's "
                    + "console, and have the store send one: deed app check \(sight.flags(of: app.key))"
            )
        }
    }

    static let productsWithoutApp = ProjectCheck(
        "products_without_app", "apps of the stores in each catalog"
    ) { sight in
        let stores = Set(sight.state.catalog.products.map(\.key.store))
            .subtracting(sight.state.apps.map(\.key.store))
        return stores.sorted { $0.rawValue < $1.rawValue }.map { store in
            Finding(
                sentence:
                    "The catalog of \(sight.project) sells products in the store \(store.rawValue), and the "
                    + "project has no app there.",
                remedy: sight.flags[store].map { "Add the app: deed app set --\($0) ID" }
                    ?? "This release does not support apps in that store: remove the products from the catalog."
            )
        }
    }

    static let entitlements = ProjectCheck(
        "entitlement_without_source", "what gives each entitlement"
    ) { sight in
        let catalog = sight.state.catalog
        let named = Set(catalog.entitlementTitles.keys).union(catalog.endingSoon.keys)
        let given = Set(catalog.products.flatMap(\.entitlements))
            .union(catalog.originalVersionRules.flatMap(\.entitlements))
        return named.subtracting(given).sorted().map { entitlement in
            Finding(
                sentence:
                    "The catalog of \(sight.project) names the entitlement \(entitlement), and no product gives "
                    + "it.",
                remedy:
                    "Add it to a product, or remove it from the catalog, unless only grants give it."
            )
        }
    }

    static let unknown = ProjectCheck(
        "product_unknown", "bought products in each catalog", isWrong: true
    ) { sight in
        sight.bought.filter { sight.state.catalog.product($0) == nil }.sorted().map { product in
            Finding(
                sentence:
                    "The product \(product.id) of the store \(product.store.rawValue) was bought, and the catalog "
                    + "of \(sight.project) does not know it.",
                remedy: "Add it to the catalog's file, and apply it.",
                commands: ["deed catalog apply catalog.json\(sight.projectFlag)"])
        }
    }
}
