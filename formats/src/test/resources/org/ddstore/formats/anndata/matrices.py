# SPDX-License-Identifier: Apache-2.0
"""Writes matrices of all types and layouts, and files to join. Follows functions.py."""
N, G = 53, 17
for name, dtype, compression in [('f32', 'f4', 'gzip'), ('f64', 'f8', None), ('i32', 'i4', 'lzf'),
                                 ('i64', 'i8', None), ('u8', 'u1', 'gzip'), ('u16', 'u2', None)]:
    for form in ['dense', 'csr']:
        x = numbers(N, G, dtype)
        a = make(N, x if form == 'dense' else sp.csr_matrix(x))
        a.layers['counts'] = sp.csr_matrix(numbers(N, G, 'i4'))
        a.layers['scaled'] = numbers(N, G, 'f4')
        a.obsm['X_pca'] = rng.normal(size=(N, 5)).astype('f4'); a.obsm['X_umap'] = rng.normal(size=(N, 2))
        path = '%s_%s.h5ad' % (form, name)
        a.write_h5ad(path, compression=compression); dump(path)

def rechunk(path, name, chunks, **options):
    with h5py.File(path, 'a') as f:
        old = f[name]; attrs = dict(old.attrs); data = old[()]; dtype = old.dtype; del f[name]
        new = f.create_dataset(name, data=data, chunks=chunks, dtype=dtype, **options)
        for k, v in attrs.items(): new.attrs[k] = v

a = make(301, numbers(301, 23, 'f4')); a.write_h5ad('chunks_dense.h5ad'); a.X = sp.csr_matrix(a.X)
a.write_h5ad('chunks_csr.h5ad')
rechunk('chunks_dense.h5ad', 'X', (7, 5), compression='gzip', shuffle=True)
rechunk('chunks_csr.h5ad', 'X/data', (37,), compression='gzip', shuffle=True, fletcher32=True)
rechunk('chunks_csr.h5ad', 'X/indices', (41,), compression='lzf')
rechunk('chunks_csr.h5ad', 'X/indptr', (10,))
for p in ['chunks_dense.h5ad', 'chunks_csr.h5ad']:
    for c in ['obs/barcode', 'obs/_index', 'obs/score', 'obs/tissue/codes']:
        rechunk(p, c, (9,), compression='gzip')
    dump(p)

# the same by the newest layout of HDF5, big-endian, behind a user block, and with values never written
with h5py.File('latest.h5ad', 'w', libver='latest', userblock_size=1024) as f, h5py.File('chunks_dense.h5ad') as g:
    for k, v in g.attrs.items(): f.attrs[k] = v
    for k in g: g.copy(k, f)
    x = f['X'][()]; del f['X']
    f.create_dataset('X', data=x.astype('>f4'), chunks=(10, 23)) # without attributes, as before 0.7
    f['layers'].create_dataset('empty', shape=x.shape, dtype='f4', chunks=(100, 23))
    f['layers'].create_dataset('hollow', shape=x.shape, dtype='f4')
dump('latest.h5ad')

# categoricals as AnnData 0.7 wrote them
with h5py.File('dense_f32.h5ad') as g, h5py.File('old.h5ad', 'w') as f:
    for k, v in g.attrs.items(): f.attrs[k] = v
    for k in g: g.copy(k, f)
    f['obs'].attrs['encoding-version'] = '0.1.0'
    for c in ['cell_type', 'tissue']:
        codes = f['obs'][c]['codes'][()]; names = f['obs'][c]['categories'][()]; del f['obs'][c]
        kept = f['obs'].require_group('__categories').create_dataset(c, data=names, dtype=h5py.string_dtype())
        kept.attrs['ordered'] = False
        d = f['obs'].create_dataset(c, data=codes); d.attrs['categories'] = kept.ref
dump('old.h5ad')

# attributes as R writes them: arrays of one text, of fixed and of varying length
import shutil; shutil.copy('chunks_csr.h5ad', 'r.h5ad'); shutil.copy('chunks_csr.h5ad.json', 'r.h5ad.json')
def in_arrays(name, o):
    for i, (k, v) in enumerate(list(o.attrs.items())):
        if isinstance(v, str): o.attrs.create(k, [v.encode()], dtype='S%d' % len(v) if i % 2 else h5py.string_dtype())
with h5py.File('r.h5ad', 'a') as f: in_arrays('', f); f.visititems(in_arrays)

for form in ['join_dense', 'join_csr']:
    os.mkdir(form); parts = []
    for i, (n, genes) in enumerate([(31, ['z', 'b', 'a', 'q']), (29, ['q', 'c', 'a', 'z', '\u00e9']), (7, ['a', 'q', 'z'])]):
        x = numbers(n, len(genes), 'f4', .6)
        part = make(n, sp.csr_matrix(x) if form == 'join_csr' else x, genes)
        part.layers['counts'] = sp.csr_matrix(numbers(n, len(genes), 'i4', .6))
        if i == 1: del part.obs['small']; del part.obs['tissue']
        part.write_h5ad('%s/%d.h5ad' % (form, i)); parts.append(part)
    for join in ['inner', 'outer']:
        whole = ad.concat(parts, join=join, fill_value=0)
        if sp.issparse(whole.X): whole.X.sort_indices()
        whole.layers['counts'].sort_indices(); dump('%s_%s' % (form, join), whole)
# the same genes in all files
os.mkdir('same'); parts = [make(20, numbers(20, 6, 'f4'), list('zyxabc')) for i in range(3)]
for i, part in enumerate(parts): part.write_h5ad('same/%d.h5ad' % i)
dump('same_outer', ad.concat(parts, join='outer')); os.mkdir('mixed')
make(20, numbers(20, 6, 'f4')).write_h5ad('mixed/a.h5ad')
make(20, sp.csr_matrix(numbers(20, 6, 'f4'))).write_h5ad('mixed/b.h5ad')
os.mkdir('others'); make(20, numbers(20, 2, 'f4'), ['x', 'y']).write_h5ad('others/a.h5ad')
make(20, numbers(20, 2, 'f4'), ['u', 'v']).write_h5ad('others/b.h5ad')
