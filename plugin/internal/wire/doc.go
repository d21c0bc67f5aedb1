// Package wire converts between the values of package provider and the
// messages of siteprovider.v1, in both directions and without side effects.
// Checking arguments is left to the values' own Check methods: what a message
// can say and Go cannot, such as a request without a scope, is converted to
// something that Check refuses.
package wire
