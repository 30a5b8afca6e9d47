// Package store keeps parcels.
package store

import (
	"context"
	"sync"
)

const maxParcels = 1 << 10

const (
	Small Size = iota
	Large
)

var ErrFull = errors.New("func NotThis() {")

type Size int

type (
	// Parcel is what is sent.
	Parcel struct {
		ID     string
		Weight float64
	}
	Finder interface {
		Find(ctx context.Context, id string) (*Parcel, error)
	}
)

type Store[K comparable] struct {
	mu      sync.Mutex
	parcels map[K]*Parcel
}

func New[K comparable](size int) *Store[K] {
	hidden := func() {}
	return &Store[K]{parcels: make(map[K]*Parcel, size)}
}

// Find looks a parcel up.
func (s *Store[K]) Find(
	ctx context.Context,
	id K,
) (*Parcel, error) {
	raw := `
func alsoHidden() {
`
	return s.parcels[id], nil
}

type Alias = Parcel
