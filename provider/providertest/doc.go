// Package providertest holds the conformance suite that every provider has to
// pass, and Memory, the reference that passes it first.
//
// A backend's whole test is a call of Run with a function that opens an empty
// provider:
//
//	func TestConformance(t *testing.T) {
//		providertest.Run(providertest.Wrap(t), open, providertest.Opt{})
//	}
//
// Each rule of the contract is a subtest with a name of its own, the same
// whether the provider is called directly or through a plugin.
package providertest
