"""Siteprovider as a provider of NLWeb (nlweb-core 0.7).

NLWeb's configuration names the two classes; nothing has to be called by hand:

    retrieval:
      default:
        import_path: siteprovider_nlweb
        class_name: SiteproviderRetrievalProvider
        command: siteprovider
        data: ./siteprovider-data
    object_storage:
      default:
        import_path: siteprovider_nlweb
        class_name: SiteproviderObjectLookupProvider
        use: retrieval.default

The provider runs in a process of its own, which is started at the first call,
started again when it ends, and ended with its host. Providers with the same
settings share it.
"""

from ._providers import SiteproviderObjectLookupProvider, SiteproviderRetrievalProvider

__all__ = ["SiteproviderObjectLookupProvider", "SiteproviderRetrievalProvider"]
