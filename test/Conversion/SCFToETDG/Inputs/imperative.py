# Random imperative programs over tensors: nested loops with steps, bounds that depend
# on outer loops, states, affine and data-dependent conditions, reads at reversed, lagged,
# strided and clamped indices, arrays that are written once or often.

import random
import sys


def gen(seed):
    R=random.Random(seed)
    out=[]; uid=[0]
    consts={}
    def fresh(p='v'):
        uid[0]+=1; return f'%{p}{uid[0]}'
    N=R.choice([3,4,5,7]); M=R.choice([1,2,4,6]); E=R.choice([1,3])
    rows={'a':(N,), 'b':(N,M)}
    lines=[]
    def tt(shape): return 'tensor<'+'x'.join(map(str,shape))+'xi32>'
    e=(E,)
    def emit(ind,s): lines.append('  '*ind+s)
    def const(v):
        if v not in consts:
            consts[v]=f'%c{v}' if v>=0 else f'%cm{-v}'
        return consts[v]
    # affine index within [0,n): from an iv in [lo,hi) ; clamp by min/max
    def index(ind,n,ivs):
        c=R.randrange(7)
        if not ivs or c==0: return const(R.randrange(n))
        iv,lo,hi=R.choice(ivs)
        v=iv
        if c==1 and hi<=n:  # reversed
            r=fresh('i'); emit(ind,f'{r} = arith.subi {const(hi-1)}, {iv} : index'); v=r; lo2,hi2=0,hi-lo
        elif c==2:
            k=R.choice([-2,-1,1,2]); r=fresh('i'); emit(ind,f'{r} = arith.addi {iv}, {const(k)} : index'); v=r; lo2,hi2=lo+k,hi+k
        elif c==3:
            r=fresh('i'); emit(ind,f'{r} = arith.muli {iv}, {const(2)} : index'); v=r; lo2,hi2=2*lo,2*hi-1
        elif c==4:
            r=fresh('i'); emit(ind,f'{r} = arith.floordivsi {iv}, {const(2)} : index'); v=r; lo2,hi2=lo//2,(hi-1)//2+1
        elif c==5 and len(ivs)>1:
            iv2,l2,h2=R.choice(ivs); r=fresh('i'); emit(ind,f'{r} = arith.addi {iv}, {iv2} : index'); v=r; lo2,hi2=lo+l2,hi+h2-1
        else: lo2,hi2=lo,hi
        if lo2<0:
            r=fresh('i'); emit(ind,f'{r} = arith.maxsi {v}, {const(0)} : index'); v=r
        if hi2>n:
            r=fresh('i'); emit(ind,f'{r} = arith.minsi {v}, {const(n-1)} : index'); v=r
        return v
    def slice_args(ind,shape,ivs):
        offs=[index(ind,n,ivs) for n in shape]
        o=', '.join(offs+['0']); s=', '.join(['1']*len(shape)+[str(E)]); st=', '.join(['1']*(len(shape)+1))
        return f'[{o}] [{s}] [{st}]'
    def small(ind,env,ivs):
        # a tensor<Exi32> value
        c=R.randrange(5)
        if env['small'] and c<2: return R.choice(env['small'])
        if c<4 and env['arr']:
            a,shape=R.choice(list(env['arr'].items()))
            name=env['cur'][a]
            r=fresh('x'); emit(ind,f'{r} = tensor.extract_slice {name}{slice_args(ind,shape,ivs)} : {tt(shape+e)} to {tt(e)}')
            return r
        if c==4 and ivs and R.random()<.5:
            iv=R.choice(ivs)[0]; q=fresh('q'); emit(ind,f'{q} = arith.index_cast {iv} : index to i32')
            r=fresh('x'); emit(ind,f'{r} = tensor.splat {q} : {tt(e)}'); return r
        return '%one'
    def expr(ind,env,ivs):
        x=small(ind,env,ivs)
        for _ in range(R.randrange(1,3)):
            y=small(ind,env,ivs); r=fresh('y')
            emit(ind,f'{r} = arith.{R.choice(["addi","subi","muli"])} {x}, {y} : {tt(e)}'); x=r
        return x
    def cond(ind,ivs):
        iv,lo,hi=R.choice(ivs); r=fresh('p')
        if len(ivs)>1 and R.random()<.4:
            o=R.choice(ivs)[0]
        else: o=const(R.randrange(max(lo,0),max(hi,1)))
        emit(ind,f'{r} = arith.cmpi {R.choice(["eq","ne","slt","sge","sle"])}, {iv}, {o} : index'); return r
    def stmts(ind,env,ivs,depth,n):
        for _ in range(n):
            c=R.randrange(15)
            if c<4:
                x=expr(ind,env,ivs); env['small'].append(x)
            elif c<7:
                writable=[a for a in env['arr'] if a in env['w']]
                a=R.choice(writable); shape=env['arr'][a]
                x=expr(ind,env,ivs) if R.random()<.8 else small(ind,env,ivs)
                r=fresh('u'); sa=slice_args(ind,shape,ivs)
                emit(ind,f'{r} = tensor.insert_slice {x} into {env["cur"][a]}{sa} : {tt(e)} into {tt(shape+e)}'); env['cur'][a]=r
            elif c<9 and depth<3:
                loop(ind,env,ivs,depth)
            elif c==9 and ivs:
                branch(ind,env,ivs,depth)
            elif c==10 and ivs:
                p=cond(ind,ivs); x=small(ind,env,ivs); y=small(ind,env,ivs); r=fresh('s')
                emit(ind,f'{r} = scf.if {p} -> ({tt(e)}) {{'); emit(ind+1,f'scf.yield {x} : {tt(e)}'); emit(ind,'} else {')
                z=expr(ind+1,env,ivs); emit(ind+1,f'scf.yield {z} : {tt(e)}'); emit(ind,'}'); env['small'].append(r)
            elif c==11 and R.random()<.5:
                # data dependent
                x=small(ind,env,ivs); q=fresh('d'); emit(ind,f'{q} = tensor.extract {x}[{const(0)}] : {tt(e)}')
                p=fresh('p'); emit(ind,f'{p} = arith.cmpi sgt, {q}, %z32 : i32')
                a=R.choice([a for a in env['arr'] if a in env['w']]); shape=env['arr'][a]
                r=fresh('f'); emit(ind,f'{r} = scf.if {p} -> ({tt(shape+e)}) {{')
                y=expr(ind+1,env,ivs); u=fresh('u'); sa=slice_args(ind+1,shape,ivs)
                emit(ind+1,f'{u} = tensor.insert_slice {y} into {env["cur"][a]}{sa} : {tt(e)} into {tt(shape+e)}')
                emit(ind+1,f'scf.yield {u} : {tt(shape+e)}'); emit(ind,'} else {'); emit(ind+1,f'scf.yield {env["cur"][a]} : {tt(shape+e)}'); emit(ind,'}')
                env['cur'][a]=r
            elif c==12 and M>1:
                # A row of its own, filled by a loop and inserted whole.
                start=R.choice(['%row','slice'])
                if start=='slice':
                    q=index(ind,N,ivs); row=fresh('w')
                    emit(ind,f'{row} = tensor.extract_slice {env["cur"]["b"]}[{q}, 0, 0] [1, {M}, {E}] [1, 1, 1] : {tt((N,M,E))} to {tt((M,E))}')
                else: row=start
                lo=R.choice([0,0,1]); iv=fresh('t'); r=fresh('r'); nm=fresh('A'); h=fresh('h'); x0=small(ind,env,ivs)
                emit(ind,f'{r}:2 = scf.for {iv} = {const(lo)} to {const(M)} step {const(1)} iter_args({nm} = {row}, {h} = {x0}) -> ({tt((M,E))}, {tt(e)}) {{')
                inner=sub(env); inner['small'].append(h); inner['arr']=dict(env['arr']); 
                x=expr(ind+1,inner,ivs+[(iv,lo,M)]); u=fresh('u')
                emit(ind+1,f'{u} = tensor.insert_slice {x} into {nm}[{iv}, 0] [1, {E}] [1, 1] : {tt(e)} into {tt((M,E))}')
                emit(ind+1,f'scf.yield {u}, {x} : {tt((M,E))}, {tt(e)}'); emit(ind,'}')
                if 'b' in env['w']:
                    q=index(ind,N,ivs); u=fresh('u')
                    emit(ind,f'{u} = tensor.insert_slice {r}#0 into {env["cur"]["b"]}[{q}, 0, 0] [1, {M}, {E}] [1, 1, 1] : {tt((M,E))} into {tt((N,M,E))}'); env['cur']['b']=u
                env['small'].append(f'{r}#1')
            elif c==13 and 'a' in env['w']:
                # Two rows at once.
                p=index(ind,N-1,ivs); q=index(ind,N-1,ivs); x=fresh('x'); y=fresh('y'); u=fresh('u'); t2=tt((2,E))
                emit(ind,f'{x} = tensor.extract_slice {env["cur"][R.choice(["a","x"])]}[{p}, 0] [2, {E}] [1, 1] : {tt((N,E))} to {t2}')
                emit(ind,f'{y} = arith.addi {x}, {x} : {t2}')
                emit(ind,f'{u} = tensor.insert_slice {y} into {env["cur"]["a"]}[{q}, 0] [2, {E}] [1, 1] : {t2} into {tt((N,E))}'); env['cur']['a']=u
            elif c==14:
                # At an index that is data.
                p=index(ind,N,ivs); k=fresh('k'); q=fresh('q'); x=fresh('x')
                emit(ind,f'{k} = tensor.extract %perm[{p}] : tensor<{N}xi32>'); emit(ind,f'{q} = arith.index_cast {k} : i32 to index')
                emit(ind,f'{x} = tensor.extract_slice %x[{q}, 0] [1, {E}] [1, 1] : {tt((N,E))} to {tt(e)}'); env['small'].append(x)
    def sub(env): return {'arr':env['arr'],'cur':dict(env['cur']),'w':env['w'],'small':list(env['small'])}
    def branch(ind,env,ivs,depth):
        p=cond(ind,ivs); a=R.choice([a for a in env['arr'] if a in env['w']]); shape=env['arr'][a]
        r=fresh('f'); t=tt(shape+e)
        emit(ind,f'{r} = scf.if {p} -> ({t}) {{')
        E1=sub(env); E1['w']={a}; stmts(ind+1,E1,ivs,depth+1,R.randrange(1,3)); emit(ind+1,f'scf.yield {E1["cur"][a]} : {t}'); emit(ind,'} else {')
        E2=sub(env); E2['w']={a}
        if R.random()<.4: stmts(ind+1,E2,ivs,depth+1,1)
        emit(ind+1,f'scf.yield {E2["cur"][a]} : {t}'); emit(ind,'}'); env['cur'][a]=r
    def loop(ind,env,ivs,depth):
        lo=R.choice([0,0,0,1,2]); n=R.choice([N,M,3]); hi=n; step=R.choice([1,1,1,1,2])
        lov,hiv=const(lo),const(hi)
        if ivs and step==1 and R.random()<.3:
            iv,l2,h2=R.choice(ivs)
            if R.random()<.5:
                q=fresh('i'); emit(ind,f'{q} = arith.addi {iv}, {const(1)} : index'); hiv=q; hi=h2
            else: lov=iv; lo=l2
        writable=[a for a in env['arr'] if a in env['w']]
        carried=[a for a in writable if R.random()<.8] or writable[:1]
        states=R.randrange(0,3)
        iv=fresh('t'); r=fresh('r')
        names=[]; inits=[]; types=[]
        inner=sub(env); inner['w']=set(carried)
        for a in carried:
            nm=fresh('A'); names.append(nm); inits.append(env['cur'][a]); types.append(tt(env['arr'][a]+e)); inner['cur'][a]=nm
        svs=[]
        for _ in range(states):
            nm=fresh('h'); names.append(nm); inits.append(small(ind,env,ivs)); types.append(tt(e)); inner['small'].append(nm); svs.append(nm)
        emit(ind,f'{r}:{len(names)} = scf.for {iv} = {lov} to {hiv} step {const(step)} iter_args('+', '.join(f'{a} = {b}' for a,b in zip(names,inits))+') -> ('+', '.join(types)+') {')
        stmts(ind+1,inner,ivs+[(iv,lo,max(hi,lo+1))],depth+1,R.randrange(1,5))
        ys=[inner['cur'][a] for a in carried]
        for _ in range(states): 
            ys.append(expr(ind+1,inner,ivs+[(iv,lo,max(hi,lo+1))]) if R.random()<.7 else R.choice(inner['small']))
        emit(ind+1,'scf.yield '+', '.join(ys)+' : '+', '.join(types)); emit(ind,'}')
        for k,a in enumerate(carried): env['cur'][a]=f'{r}#{k}'
        for k in range(states): env['small'].append(f'{r}#{len(carried)+k}')
    env={'arr':{'a':(N,),'b':(N,M),'x':(N,)},'cur':{'a':'%a','b':'%b','x':'%x'},'w':{'a','b'},'small':[]}
    if R.random()<.5: env['cur']['a']='%emp'
    stmts(1,env,[],0,R.randrange(1,3)); loop(1,env,[],0)
    if R.random()<.4: loop(1,env,[],0)
    head=[f'func.func @main(%a: {tt((N,E))}, %b: {tt((N,M,E))}, %x: {tt((N,E))}) -> ({tt((N,E))}, {tt((N,M,E))}, {tt(e)}) {{',
      f'  %one = arith.constant dense<1> : {tt(e)}', f'  %emp = arith.constant dense<0> : {tt((N,E))}','  %z32 = arith.constant 0 : i32',
      f'  %perm = arith.constant dense<{R.sample(range(N),N)}> : tensor<{N}xi32>',
      f'  %row = tensor.empty() : {tt((M,E))}' if R.random()<.5 else f'  %row = arith.constant dense<2> : {tt((M,E))}']
    last=env['small'][-1] if env['small'] else '%one'
    for v,nm in consts.items(): head.append(f'  {nm} = arith.constant {v} : index')
    ret=f'  return {env["cur"]["a"]}, {env["cur"]["b"]}, {last} : {tt((N,E))}, {tt((N,M,E))}, {tt(e)}'
    return '\n'.join(head+lines+[ret,'}'])+'\n'
if __name__ == "__main__":
    print(gen(int(sys.argv[1])))
