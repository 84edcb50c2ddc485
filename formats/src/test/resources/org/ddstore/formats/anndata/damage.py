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
