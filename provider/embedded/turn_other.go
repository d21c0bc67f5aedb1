//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package embedded

import "errors"

func openSeat(string) (seat, error) { return nil, errors.ErrUnsupported }

func takeSeat(seat) (bool, error) { return false, errors.ErrUnsupported }
