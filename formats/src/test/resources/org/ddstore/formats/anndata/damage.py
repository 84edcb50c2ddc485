# SPDX-License-Identifier: Apache-2.0
"""Writes files that are damaged. Follows functions.py."""
make(41, numbers(41, 6, 'f4')).write_h5ad('good.h5ad', compression='gzip')
make(41, sp.csr_matrix(numbers(41, 6, 'f4'))).write_h5ad('sparse.h5ad')
make(41, sp.csc_matrix(numbers(41, 6, 'f4'))).write_h5ad('csc.h5ad')
make(0, numbers(0, 6, 'f4')).write_h5ad('rowless.h5ad')
import shutil
def damaged(name, base='good'):
    shutil.copy(base + '.h5ad', name + '.h5ad'); return h5py.File(name + '.h5ad', 'a')
with damaged('no_x') as f: del f['X']
with damaged('no_obs') as f: del f['obs']
with damaged('no_var') as f: del f['var']
with damaged('no_index') as f: del f['obs'].attrs['_index']
with damaged('no_column') as f: del f['obs/depth']
with damaged('short_column') as f:
    del f['obs/depth']; f['obs/depth'] = np.zeros(40)
with damaged('narrow') as f:
    del f['X']; f['X'] = np.zeros((41, 5), 'f4')
with damaged('cube') as f:
    del f['X']; f['X'] = np.zeros((41, 6, 2), 'f4')
with damaged('texts') as f:
    del f['X']; f.create_dataset('X', data=[[b'a'] * 6] * 41)
with damaged('long_double') as f:
    del f['X']; f['X'] = np.zeros((41, 6), 'g')
with damaged('complex') as f:
    del f['obs/depth']; f['obs/depth'] = np.zeros(41, 'c8')
with damaged('awkward') as f: f['obs/age'].attrs['encoding-type'] = 'awkward-array'
with damaged('foreign_x', 'sparse') as f: f['X'].attrs['encoding-type'] = 'dok_matrix'
with damaged('foreign_root') as f: f.attrs['encoding-type'] = 'mudata'
with damaged('codes') as f: f['obs/tissue/codes'][5] = 9
with damaged('offsets', 'sparse') as f: f['X/indptr'][3] = 10**6
with damaged('genes', 'sparse') as f: f['X/indices'][2] = 6
with damaged('compound') as f:
    del f['obs']; f['obs'] = np.zeros(41, dtype=[('index', 'S5'), ('n', 'i4')])
with damaged('fill') as f:
    del f['X']; f.create_dataset('X', shape=(41, 6), dtype='f4', chunks=(10, 6), fillvalue=3)
with damaged('clash') as f:
    o = f['obs']; o['X'] = np.zeros(41); o.attrs['column-order'] = list(o.attrs['column-order']) + ['X']
with damaged('huge', 'sparse') as f:
    for k, t in [('data', 'f4'), ('indices', 'i4')]:
        del f['X'][k]; f['X'].create_dataset(k, shape=(2**31 + 9,), dtype=t, chunks=(1 << 20,))
with damaged('garbled') as f:
    at = f['X'].id.get_chunk_info(0).byte_offset
with open('garbled.h5ad', 'r+b') as f: f.seek(at); f.write(b'x' * 64)
with damaged('twice', 'sparse') as f:
    genes = np.tile([0, 3], 41); genes[4:6] = 1
    for k, v in [('data', np.ones(82, 'f4')), ('indices', genes.astype('i4')), ('indptr', np.arange(0, 84, 2, 'i4'))]:
        del f['X'][k]; f['X'][k] = v
with damaged('names') as f:
    o = f['obs']; o['obs_name'] = np.zeros(41); o.attrs['column-order'] = list(o.attrs['column-order']) + ['obs_name']
for kind in [None, 'gzip', 'lzf']:
    name = 'checksum_%s' % (kind or 'none')
    with damaged(name) as f:
        del f['X']
        f.create_dataset('X', data=np.arange(41 * 6, dtype='f4').reshape(41, 6), chunks=(10, 5), compression=kind,
                         shuffle=kind is not None, fletcher32=True)
    with damaged(name + '_bad', name) as f: at = f['X'].id.get_chunk_info(3).byte_offset
    with open(name + '_bad.h5ad', 'r+b') as f:
        f.seek(at + 9); byte = f.read(1)[0]; f.seek(at + 9); f.write(bytes([byte ^ 4]))

# links
def moved(name, link):
    with damaged(name) as f:
        if not os.path.exists('linked/x.h5'):
            os.makedirs('linked', exist_ok=True)
            with h5py.File('linked/x.h5', 'w') as g: f.copy('X', g, name='data')
        del f['X']; f['X'] = link
moved('soft_loop', h5py.SoftLink('/X')); moved('dangling', h5py.SoftLink('/gone'))
moved('external', h5py.ExternalLink('linked/x.h5', '/data'))
moved('external_up', h5py.ExternalLink('linked/../good.h5ad', '/X'))
moved('external_gone', h5py.ExternalLink('linked/gone.h5', '/data'))
os.symlink(os.path.abspath('good.h5ad'), 'linked/symbolic.h5')
moved('external_symbolic', h5py.ExternalLink('linked/symbolic.h5', '/X'))
with damaged('hard_cycle') as f: f['obs/self'] = f['obs']; f['obs/root'] = f['/']; f['obsm/back'] = f['/']
# features of HDF5 that are not supported
with damaged('virtual') as f:
    parts = h5py.VirtualLayout((41, 6), 'f4'); parts[:] = h5py.VirtualSource('.', 'X', shape=(41, 6))
    f.create_virtual_dataset('layers/virtual', parts)
with damaged('raw') as f:
    open('raw.bin', 'wb').write(np.zeros((41, 6), 'f4').tobytes())
    f.create_dataset('layers/raw', shape=(41, 6), dtype='f4', external=[('raw.bin', 0, 41 * 6 * 4)])
with damaged('scaled') as f:
    del f['X']; f.create_dataset('X', data=np.zeros((41, 6), 'i4'), chunks=(10, 6), scaleoffset=3)
with damaged('bfloat') as f:
    t = h5py.h5t.IEEE_F32LE.copy(); t.set_fields(15, 7, 8, 0, 7); t.set_size(2); t.set_ebias(127)
    del f['X']; h5py.h5d.create(f.id, b'X', t, h5py.h5s.create_simple((41, 6)))
with damaged('bits') as f:
    t = h5py.h5t.STD_I16LE.copy(); t.set_precision(12)
    del f['obs/depth']; h5py.h5d.create(f['obs'].id, b'depth', t, h5py.h5s.create_simple((41,)))
# names
with damaged('leads_out') as f: f['obs'].attrs['column-order'] = ['../var/_index']
with damaged('index_leads_out') as f: f['var'].attrs['_index'] = '../obs/_index'
def grouped(f, frame, kind, values, mask=None):
    index = f[frame].attrs['_index']; del f[frame][index]; g = f[frame].create_group(index)
    g.attrs['encoding-type'] = kind
    if kind == 'categorical':
        g['codes'] = np.arange(len(values), dtype='i1'); g['categories'] = values
    else:
        g['values'] = values; g['mask'] = np.zeros(len(values), bool) if mask is None else mask
texts = lambda n: np.array(['name %d' % i for i in range(n)], dtype=object)
with damaged('gene_missing') as f: grouped(f, 'var', 'nullable-string-array', texts(6), np.arange(6) == 4)
with damaged('cell_missing') as f: grouped(f, 'obs', 'nullable-string-array', texts(41), np.arange(41) == 7)
with damaged('index_categorical') as f:
    grouped(f, 'obs', 'categorical', texts(41)); grouped(f, 'var', 'categorical', texts(6))
with damaged('index_integers') as f:
    grouped(f, 'obs', 'nullable-integer', np.arange(41)); grouped(f, 'var', 'nullable-integer', np.arange(6))
# sizes that nothing backs
with damaged('huge_var') as f:
    i = f['var'].attrs['_index']; del f['var'][i]; f['var'].create_dataset(i, shape=(2**31 - 1,), dtype='i8')
with damaged('huge_chunk') as f: info = f['X'].id.get_chunk_info(0)
key = np.array([info.size, 0], '<u4').tobytes() + bytes(16)
with open('huge_chunk.h5ad', 'r+b') as f:
    data = f.read(); at = data.index(key); f.seek(at); f.write(np.array([2**30], '<u4').tobytes())
# values beyond 2^31
with damaged('far', 'sparse') as f:
    n = 2**31 + 9
    for k, t in [('data', 'f4'), ('indices', 'i4')]:
        del f['X'][k]; d = f['X'].create_dataset(k, shape=(n,), dtype=t, chunks=(1 << 20,), compression='gzip')
        d[n - 41:] = np.arange(41) % 6 if k == 'indices' else np.arange(41)
    del f['X/indptr']; f['X/indptr'] = np.arange(n - 41, n + 1)
